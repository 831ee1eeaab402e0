<?php
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
function product(int $id): array {
    return ['id' => $id, 'name' => "Product $id", 'price' => ($id * 37 % 5000) / 100, 'tags' => ['garden', 'green', 'no ' . $id % 7]];
}
if (preg_match('#^/products/(\d+)$#', $path, $m)) {
    header('Content-Type: application/json');
    echo json_encode(product((int) $m[1]));
} elseif ($path === '/catalogue.csv') {
    header('Content-Type: text/csv');
    $out = fopen('php://output', 'w');
    for ($id = 1; $id <= 12000; $id++) {
        $p = product($id);
        fputcsv($out, [$p['id'], $p['name'], number_format($p['price'], 2), implode(' ', $p['tags'])]);
    }
} else {
    echo 'shop';
}

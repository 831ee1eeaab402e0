<?php
// a small shop: /product/N shows a product with what goes with it, /list shows the whole range
function range_of_goods(): array
{
    $goods = [];
    for ($i = 1; $i <= 1500; $i++) {
        $goods[] = ['id' => $i, 'name' => "Lamp <$i>", 'price' => ($i * 7919) % 30000 / 100, 'stock' => ($i * 31) % 40];
    }
    return $goods;
}

function recommended(int $id): array
{
    $wait = stream_context_create(['http' => ['timeout' => 0.25]]);
    $json = @file_get_contents('http://127.0.0.1:' . getenv('RECOMMEND_PORT') . "/similar?to=$id", false, $wait);
    return $json === false ? [] : json_decode($json, true);
}

function price(int $id): int
{
    $json = file_get_contents('http://127.0.0.1:' . getenv('PRICE_PORT') . "/price?of=$id");
    return json_decode($json, true)['cents'];
}

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (preg_match('~^/product/(\d+)$~', $path, $m)) {
    $similar = implode('', array_map(fn ($s) => "<li><a href=\"/product/$s\">$s</a></li>", recommended((int) $m[1])));
    $html = "<h1>Product $m[1]</h1><ul>$similar</ul>";
} elseif (preg_match('~^/basket/(\d+)$~', $path, $m)) {
    $sum = 0;
    $rows = '';
    for ($k = 1; $k <= 12; $k++) {
        $cents = price($m[1] * $k % 400 + 1);
        $sum += $cents;
        $rows .= sprintf('<tr><td>%d</td><td>%.2f</td></tr>', $k, $cents / 100);
    }
    $html = "<table>$rows</table><p>" . number_format($sum / 100, 2) . '</p>';
} elseif ($path === '/list') {
    $goods = range_of_goods();
    usort($goods, fn ($a, $b) => $a['price'] <=> $b['price'] ?: strcmp($a['name'], $b['name']));
    $html = '<table>';
    foreach ($goods as $g) {
        $html .= '<tr><td>' . htmlspecialchars($g['name']) . '</td><td>' . number_format($g['price'], 2, ',', '.') . '</td><td>'
            . ($g['stock'] > 0 ? sprintf('%d in stock', $g['stock']) : 'sold out') . '</td><td>' . substr(md5($g['name']), 0, 8) . '</td></tr>';
    }
    $html .= '</table>';
} else {
    $html = '<h1>Shop</h1>';
}
header('Content-Type: text/html');
header('Content-Length: ' . strlen($html));
echo $html;

<?php
// Takes the price lists of the suppliers over, one after the other.

$parent = posix_getppid();
$capsule = require __DIR__.'/database/capsule.php';
$db = $capsule->getConnection();
$db->statement('PRAGMA synchronous = NORMAL');
$port = getenv('SUPPLIERS_PORT');
$inside = getenv('FETCH_IN_TRANSACTION') === '1';
$log = getenv('TIMING_LOG');

function price_list($port, $supplier)
{
    return json_decode(file_get_contents("http://127.0.0.1:$port/pricelists/$supplier"), true);
}

function take_over($db, $supplier, $fetch)
{
    $import = $db->table('imports')->insertGetId([
        'supplier_id' => $supplier, 'state' => 'running', 'created_at' => date('c'),
    ]);
    foreach ($fetch() as $id => $price) {
        $db->table('products')->where('id', $id)->update(['price' => $price]);
    }
    $db->table('imports')->where('id', $import)->update(['state' => 'done']);
}

for ($n = 0; posix_getppid() === $parent; $n++) {
    $supplier = $n % 45;
    usleep(random_int(380000, 560000));
    $fetch = function () use ($port, $supplier) {
        return price_list($port, $supplier);
    };
    if (! $inside) {
        $prices = $fetch();
        $fetch = function () use ($prices) {
            return $prices;
        };
    }
    $t0 = microtime(true);
    $db->transaction(function () use ($db, $supplier, $fetch) {
        take_over($db, $supplier, $fetch);
    });
    if ($log) {
        file_put_contents($log, sprintf("import %.6f transaction=%.2f\n", $t0,
            1e3 * (microtime(true) - $t0)), FILE_APPEND);
    }
}

<?php
header('Content-Type: application/json');
$rows = [];
for ($i = 0; $i < 4000; $i++) {
    $rows[] = ['id' => $i, 'sku' => md5((string)$i), 'name' => "product $i"];
}
echo json_encode($rows);

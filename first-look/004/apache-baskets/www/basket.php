<?php
require 'db.php';
$put = db()->prepare('UPDATE items SET reserved = reserved + 1 WHERE sku = ?');
$put->execute([$_GET['sku']]);
header('Content-Type: application/json');
echo json_encode(['sku' => $_GET['sku'], 'reserved' => $put->rowCount()]);

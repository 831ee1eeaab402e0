<?php
require 'db.php';
$db = db();
$db->beginTransaction();
$row = $db->prepare('SELECT stock FROM items WHERE sku = ? FOR UPDATE');
$row->execute([$_GET['sku']]);
$stock = (int) $row->fetchColumn();
$paid = file_get_contents(getenv('PAYMENTS') . '/authorise', false, stream_context_create(['http' => [
    'method' => 'POST', 'header' => 'Content-Type: application/x-www-form-urlencoded', 'content' => 'amount=1999']]));
if ($stock > 0 && $paid === 'authorised') {
    $db->prepare('UPDATE items SET stock = stock - 1, reserved = reserved - 1 WHERE sku = ?')->execute([$_GET['sku']]);
}
$db->commit();
header('Content-Type: application/json');
echo json_encode(['sku' => $_GET['sku'], 'left' => $stock - 1]);

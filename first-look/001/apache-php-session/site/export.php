<?php
session_start();
$orders = [];
for ($page = 1; $page <= 6; $page++) {
    usleep(50000);                       // the warehouse answers a page
    $orders[] = ['page' => $page, 'lines' => range(1, 20)];
}
$_SESSION['exported'] = time();
header('Content-Type: application/json');
echo json_encode($orders);

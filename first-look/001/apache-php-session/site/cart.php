<?php
session_start();
$_SESSION['views'] = ($_SESSION['views'] ?? 0) + 1;
header('Content-Type: application/json');
echo json_encode(['items' => $_SESSION['items'] ?? [], 'views' => $_SESSION['views']]);

<?php
// The cart lives in the session; a checkout asks the bank, as long as that takes.
session_start();
$_SESSION['seen'] = ($_SESSION['seen'] ?? 0) + 1;
if (getenv('CLOSE_EARLY') || isset($_SERVER['CLOSE_EARLY'])) session_write_close();
usleep(isset($_GET['checkout']) ? 300000 : 6000);
header('Content-Type: text/plain');
echo 'seen ', $_SESSION['seen'], "\n";

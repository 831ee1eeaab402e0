<?php
// Some 10 ms of computing.
$hash = '';
for ($i = 0; $i < 50000; $i++) {
    $hash = md5($hash . $i);
}
header('Content-Type: text/plain');
echo $hash, "\n";

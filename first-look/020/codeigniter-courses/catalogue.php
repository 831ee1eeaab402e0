<?php
$db = new PDO('sqlite:' . $argv[1]);
$db->exec('CREATE TABLE courses (id INTEGER PRIMARY KEY, title TEXT, place TEXT, seats INT)');
$db->beginTransaction();
$put = $db->prepare('INSERT INTO courses VALUES (?, ?, ?, ?)');
for ($i = 1; $i <= 800; $i++) {
    $put->execute([$i, 'Course ' . $i, 'Room ' . ($i % 40), 8 + $i % 17]);
}
$db->commit();

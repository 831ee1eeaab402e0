<?php
// make-db.php FILE: 1200 collections and their boxes
$db = new PDO('sqlite:' . $argv[1]);
$db->exec('CREATE TABLE collections (id INTEGER PRIMARY KEY, title TEXT, creator TEXT, extent TEXT)');
$db->exec('CREATE TABLE containers (collection INTEGER, box INTEGER, folder INTEGER, title TEXT)');
$db->exec('CREATE INDEX container_of ON containers (collection)');
$names = ['Adams', 'Baker', 'Chandler', 'Dyer', 'Easton', 'Fuller', 'Garner', 'Hooper', 'Ingram', 'Jarvis'];
$kinds = ['Papers', 'Letters', 'Diaries', 'Photographs', 'Records', 'Maps'];
$db->beginTransaction();
$c = $db->prepare('INSERT INTO collections VALUES (?, ?, ?, ?)');
$b = $db->prepare('INSERT INTO containers VALUES (?, ?, ?, ?)');
for ($id = 1; $id <= 1200; $id++) {
    $name = $names[$id * 7 % 10];
    $kind = $kinds[$id % 6];
    $c->execute([$id, "$name Family $kind, no. $id", "$name family", ($id % 40 + 1) . ' boxes']);
    for ($n = 0; $n < 15 + $id % 10; $n++) {
        $b->execute([$id, intdiv($n, 6) + 1, $n % 6 + 1, "$kind " . (1820 + ($id + $n) % 120)]);
    }
}
$db->commit();

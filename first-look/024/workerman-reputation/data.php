<?php
// php data.php FILE: 400 sites with 24 rules each
[$me, $file] = $argv;
@unlink($file);
$db = new PDO("sqlite:$file", null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
$db->exec('CREATE TABLE sites (id INTEGER PRIMARY KEY, host TEXT, plan TEXT)');
$db->exec('CREATE TABLE rules (id INTEGER PRIMARY KEY, site INTEGER, pattern TEXT, action TEXT, score INTEGER)');
$db->beginTransaction();
mt_srand(7);
for ($i = 1; $i <= 400; $i++) {
    $db->exec("INSERT INTO sites VALUES ($i, 'shop$i.example', '" . ['small', 'team', 'large'][$i % 3] . "')");
    for ($j = 0; $j < 24; $j++) {
        $pattern = bin2hex(pack('N', mt_rand())) . '.*' . ['union', 'script', 'passwd', 'wp-login'][mt_rand(0, 3)];
        $action = ['block', 'log', 'challenge'][mt_rand(0, 2)];
        $db->exec("INSERT INTO rules (site, pattern, action, score) VALUES ($i, '$pattern', '$action', " . mt_rand(0, 99) . ')');
    }
}
$db->commit();
$db->exec('CREATE INDEX rules_site ON rules (site)');
$db->exec('CREATE INDEX rules_score ON rules (action, score)');

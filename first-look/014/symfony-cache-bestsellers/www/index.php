<?php
// A shop's front page: bestsellers through Symfony Cache in redis, articles from PostgreSQL.
require '/usr/share/php/Symfony/Component/Cache/autoload.php';

use Symfony\Component\Cache\Adapter\RedisAdapter;
use Symfony\Contracts\Cache\ItemInterface;

function db(): PDO
{
    return new PDO(
        'pgsql:host=127.0.0.1;user=app;dbname=shop;port=' . getenv('DB_PORT'), null, null,
        [PDO::ATTR_PERSISTENT => true, PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]
    );
}

function bestsellers(ItemInterface $item, string $genre): array
{
    $item->expiresAfter((int) (getenv('BEST_TTL') ?: 2));
    $start = microtime(true);
    $query = db()->prepare(
        "select a.id, a.title, sum(l.pieces) as pieces, sum(l.pieces * a.cents) as cents
           from lines l join articles a on a.id = l.article
          where l.day >= date '2026-01-10' and a.genre = ?
          group by a.id, a.title order by pieces desc, a.id limit 20"
    );
    $query->execute([$genre]);
    $rows = $query->fetchAll(PDO::FETCH_ASSOC);
    if ($log = getenv('COMPUTE_LOG')) {     // evidence only
        file_put_contents($log, sprintf("%.3f %.1f\n", $start, (microtime(true) - $start) * 1000), FILE_APPEND | LOCK_EX);
    }
    return $rows;
}

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
header('content-type: application/json');
if (preg_match('~^/bestsellers/(books|music)$~', $path, $m)) {
    $redis = RedisAdapter::createConnection('redis://127.0.0.1:' . getenv('REDIS_PORT'), ['persistent' => 1]);
    $cache = new RedisAdapter($redis, 'shop');
    $cache->setCallbackWrapper(null);       // no lock files below /usr/share
    echo json_encode($cache->get('best.' . $m[1], fn ($item) => bestsellers($item, $m[1]), 0.0));
} elseif (preg_match('~^/articles/(\d+)$~', $path, $m)) {
    $q = db()->prepare('select id, title, cents from articles where id = ?');
    $q->execute([$m[1]]);
    echo json_encode($q->fetch(PDO::FETCH_ASSOC));
} elseif ($path === '/health') {
    db()->query('select 1');
    echo '{"ok":true}';
} else {
    http_response_code(404);
    echo '{}';
}

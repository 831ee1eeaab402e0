<?php
// Glossary of a museum: terms come from SQLite by way of memcached, visits are counted once a visitor.
declare(strict_types=1);

require __DIR__ . '/../cache.php';

function answer(array $value, int $status = 200): void
{
    http_response_code($status);
    header('content-type: application/json');
    echo json_encode($value, JSON_UNESCAPED_UNICODE);
}

function database(): PDO
{
    return new PDO('sqlite:' . getenv('GLOSSARY_DB'), null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
}

function term(Memcached $cache, string $slug): ?array
{
    $term = $cache->get("term:$slug");
    if ($term === false) {
        $query = database()->prepare('SELECT slug, title, body FROM term WHERE slug = ?');
        $query->execute([$slug]);
        $term = $query->fetch(PDO::FETCH_ASSOC) ?: null;
        if ($term !== null) {
            $related = database()->prepare('SELECT b.slug FROM related JOIN term b ON b.id = b_id WHERE a_id = (SELECT id FROM term WHERE slug = ?)');
            $related->execute([$slug]);
            $term['related'] = $related->fetchAll(PDO::FETCH_COLUMN);
            $cache->set("term:$slug", $term, 3600);
        }
    }
    return $term;
}

$path = explode('/', trim(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH), '/'));
$cache = cache();

if ($path === ['health']) {
    // what the front page shows is wanted at once
    foreach (database()->query('SELECT slug FROM term')->fetchAll(PDO::FETCH_COLUMN) as $slug) {
        term($cache, $slug);
    }
    answer(['cached' => true]);
} elseif (count($path) === 2 && $path[0] === 'terms') {
    $term = term($cache, $path[1]);
    $term === null ? answer(['error' => 'no such term'], 404) : answer($term);
} elseif (count($path) === 3 && $path[0] === 'terms' && $path[2] === 'visits' && $_SERVER['REQUEST_METHOD'] === 'POST') {
    $term = term($cache, $path[1]);
    $visitor = (string) (json_decode(file_get_contents('php://input'), true)['visitor'] ?? '');
    if ($term === null || $visitor === '') {
        answer(['error' => 'no such term or visitor'], 404);
    } else {
        $begin = hrtime(true);
        $seen = $cache->get("seen:$path[1]:$visitor");
        if (getenv('GLOSSARY_TRACE')) {
            error_log(sprintf('get seen: %s, %.1f ms', $seen === false ? 'miss' : 'hit', (hrtime(true) - $begin) / 1e6));
        }
        if ($seen === false) {
            $cache->set("seen:$path[1]:$visitor", time(), 1800);
            $cache->increment("visits:$path[1]", 1, 1);
        }
        answer(['term' => $path[1], 'counted' => $seen === false], 201);
    }
} else {
    answer(['error' => 'not found'], 404);
}

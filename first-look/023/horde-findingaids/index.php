<?php
/**
 * Finding aids of an archive: Horde Routes in front, Horde HashTable on the Redis that all sites of the library share.
 */
error_reporting(E_ALL & ~E_DEPRECATED & ~E_NOTICE & ~E_WARNING);
require_once 'Predis/autoload.php';
spl_autoload_register(function ($class) {
    if (strncmp($class, 'Horde_', 6) === 0) {
        require_once strtr($class, '_', '/') . '.php';
    }
});

function answer($status, array $body)
{
    $json = json_encode($body);
    http_response_code($status);
    header('Content-Type: application/json');
    header('Content-Length: ' . strlen($json));
    echo $json;
}

function db()
{
    static $db;
    return $db ??= new PDO('sqlite:' . getenv('CATALOG_DB'), null, null, [
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
        PDO::SQLITE_ATTR_OPEN_FLAGS => PDO::SQLITE_OPEN_READONLY,
    ]);
}

function cache()
{
    static $cache;
    return $cache ??= new Horde_HashTable_Predis([
        'prefix' => 'findingaids:',
        'predis' => new Predis\Client('tcp://127.0.0.1:' . getenv('REDIS_PORT') . '?persistent=1&timeout=5&read_write_timeout=10'),
    ]);
}

/** From the cache, or made and kept there. */
function cached($key, callable $make)
{
    $found = cache()->get($key);
    if ($found !== false) {
        return json_decode($found, true);
    }
    $made = $make();
    cache()->set($key, json_encode($made), ['expire' => 600]);
    return $made;
}

function collection($id)
{
    $row = cached("collection:$id", function () use ($id) {
        $q = db()->prepare('SELECT id, title, creator, extent FROM collections WHERE id = ?');
        $q->execute([$id]);
        $row = $q->fetch();
        if (!$row) {
            return null;
        }
        $q = db()->prepare('SELECT box, folder, title FROM containers WHERE collection = ? ORDER BY box, folder');
        $q->execute([$id]);
        return $row + ['containers' => $q->fetchAll()];
    });
    answer($row ? 200 : 404, $row ?: ['error' => 'no such collection']);
}

function search($words)
{
    $hits = cached('search:' . md5($words), function () use ($words) {
        $q = db()->prepare('SELECT id, title FROM collections WHERE title LIKE ? ORDER BY title LIMIT 20');
        $q->execute(['%' . $words . '%']);
        return $q->fetchAll();
    });
    answer(200, ['q' => $words, 'hits' => $hits]);
}

$routes = new Horde_Routes_Mapper();
$routes->connect('collections/:id', ['controller' => 'collection', 'requirements' => ['id' => '\d+']]);
$routes->connect('search', ['controller' => 'search']);
$routes->connect('health', ['controller' => 'health']);
$match = $routes->match(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH));
switch ($match['controller'] ?? '') {
    case 'collection':
        collection((int)$match['id']);
        break;
    case 'search':
        search((string)($_GET['q'] ?? ''));
        break;
    case 'health':
        answer(200, ['collections' => (int)db()->query('SELECT COUNT(*) FROM collections')->fetchColumn()]);
        break;
    default:
        answer(404, ['error' => 'not found']);
}

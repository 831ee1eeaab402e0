<?php
// Score server of a game: maps with their leaderboards, and submission of scores with their replay.
declare(strict_types=1);

require '/usr/share/php/Pimple/autoload.php';
require '/usr/share/php/Predis/Autoloader.php';
Predis\Autoloader::register();

$app = new Pimple\Container();
$app['redis'] = fn() => new Predis\Client(
    ['host' => '127.0.0.1', 'port' => (int) $_SERVER['DB_PORT'], 'persistent' => true]);
$app['replays.url'] = fn() => 'http://127.0.0.1:' . $_SERVER['REPLAYS_PORT'];

// asks the replay storage and reads its answer: a read that blocks the worker
$app['replays.check'] = $app->protect(function (string $map, string $player, string $hash) use ($app): array {
    $stream = fopen($app['replays.url'] . "/check/$map/$player/$hash", 'r', false,
        stream_context_create(['http' => ['timeout' => 5, 'protocol_version' => 1.1, 'header' => 'Connection: close']]));
    $answer = stream_get_contents($stream);
    fclose($stream);
    return json_decode($answer, true, 8, JSON_THROW_ON_ERROR);
});

$app['leaderboard'] = $app->protect(function (string $map) use ($app): array {
    $rows = $app['redis']->zrevrange("board:$map", 0, 49, ['WITHSCORES' => true]);
    $board = [];
    foreach ($rows as $player => $score) {
        $board[] = ['rank' => count($board) + 1, 'player' => $player, 'score' => (int) $score,
            'grade' => $score > 900000 ? 'S' : ($score > 700000 ? 'A' : 'B')];
    }
    return $board;
});

function answer(int $status, array $data): void
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode($data, JSON_THROW_ON_ERROR);
}

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($path === '/health') {
    answer(200, ['maps' => (int) $app['redis']->get('maps')]);
} elseif (preg_match('~^/maps/(\d+)$~', $path, $m)) {
    $map = $app['redis']->hgetall("map:$m[1]");
    $map ? answer(200, $map + ['leaderboard' => $app['leaderboard']($m[1])]) : answer(404, ['error' => 'no such map']);
} elseif (preg_match('~^/maps/(\d+)/scores$~', $path, $m) && $_SERVER['REQUEST_METHOD'] === 'POST') {
    $score = json_decode(file_get_contents('php://input'), true, 8, JSON_THROW_ON_ERROR);
    $player = 'player' . $score['player'] % 5000;
    $replay = $app['replays.check']($m[1], $player, hash('sha256', $score['replay']));
    if ($replay['valid']) {
        $app['redis']->zadd("board:$m[1]", [$player => $score['score']]);
    }
    answer(201, ['player' => $player, 'rank' => $app['redis']->zrevrank("board:$m[1]", $player)]);
} else {
    answer(404, ['error' => 'not found']);
}

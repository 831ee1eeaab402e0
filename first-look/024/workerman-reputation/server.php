<?php
// Console of a web application firewall: sites and their rules from SQLite, and the reputation of
// client addresses from the threat service.   php server.php start PORT
require_once __DIR__ . '/workerman/Autoloader.php';
require_once __DIR__ . '/Reputation.php';
require_once __DIR__ . '/Rules.php';

use Workerman\Connection\TcpConnection;
use Workerman\Protocols\Http\Request;
use Workerman\Protocols\Http\Response;
use Workerman\Worker;

$tmp = getenv('CONSOLE_TMP');
Worker::$pidFile = "$tmp/console.pid";
Worker::$logFile = "$tmp/console.log";
Worker::$statusFile = "$tmp/console.status";

$worker = new Worker('http://127.0.0.1:' . getenv('CONSOLE_PORT'));
$worker->name = 'console';
$worker->count = 1;

$rules = null;
$reputation = null;
$worker->onWorkerStart = function () use (&$rules, &$reputation) {
    $rules = new Rules(getenv('CONSOLE_DB'));
    $reputation = getenv('REPUTATION_CLIENT') === 'async'
        ? new AsyncReputation((int) getenv('REPUTATION_PORT'))
        : new CommandReputation((int) getenv('REPUTATION_PORT'));
};

function json(TcpConnection $connection, array $data, int $status = 200): void
{
    $connection->send(new Response($status, ['Content-Type' => 'application/json'], json_encode($data)));
}

$worker->onMessage = function (TcpConnection $connection, Request $request) use (&$rules, &$reputation) {
    $path = explode('/', trim($request->path(), '/'));
    if ($path[0] === 'health') {
        json($connection, ['sites' => $rules->count()]);
    } elseif ($path[0] === 'sites' && isset($path[1])) {
        $site = $rules->site((int) $path[1]);
        $site ? json($connection, $site) : json($connection, ['error' => 'no such site'], 404);
    } elseif ($path[0] === 'clients' && isset($path[1]) && filter_var($path[1], FILTER_VALIDATE_IP)) {
        $address = $path[1];
        $reputation->look($address, function (?array $found) use ($connection, $address, $rules) {
            if ($found === null) {
                json($connection, ['error' => 'no answer from the threat service'], 502);
                return;
            }
            json($connection, [
                'address' => $address, 'score' => $found['score'], 'seen' => $found['seen'],
                'blocked_by' => $rules->blocking($found['score']),
            ]);
        });
    } else {
        json($connection, ['error' => 'not found'], 404);
    }
};

Worker::runAll();

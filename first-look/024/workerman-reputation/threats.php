<?php
// Stand-in of the threat service: the reputation of an address takes it 40 ms.   php threats.php start
require_once __DIR__ . '/workerman/Autoloader.php';

use Workerman\Protocols\Http\Response;
use Workerman\Timer;
use Workerman\Worker;

$tmp = getenv('THREATS_TMP');
Worker::$pidFile = "$tmp/threats.pid";
Worker::$logFile = "$tmp/threats.log";
Worker::$statusFile = "$tmp/threats.status";

$worker = new Worker('http://127.0.0.1:' . getenv('THREATS_PORT'));
$worker->name = 'threats';
$worker->onMessage = function ($connection, $request) {
    $address = basename($request->path());
    $hash = crc32($address);
    $body = json_encode(['address' => $address, 'score' => $hash % 100, 'seen' => $hash % 5000]);
    Timer::add(0.04, fn () => $connection->send(new Response(200, ['Content-Type' => 'application/json'], $body)), [], false);
};
Worker::runAll();

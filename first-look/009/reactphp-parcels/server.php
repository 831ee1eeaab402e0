<?php
error_reporting(E_ALL & ~E_DEPRECATED);
require getenv('VENDOR') . '/autoload.php';

use Psr\Http\Message\ServerRequestInterface;
use React\Http\Message\Response;

$pdo = new PDO('mysql:host=127.0.0.1;port=' . getenv('DB_PORT') . ';dbname=parcels', 'root', '');
$parcels = [];
foreach ($pdo->query('SELECT parcel, MAX(depot) AS depot, SUM(weight) AS weight FROM scans GROUP BY parcel LIMIT 500') as $row) {
    $parcels[$row['parcel']] = ['parcel' => $row['parcel'], 'depot' => $row['depot'], 'weight' => $row['weight']];
}

function json($data, $status = 200) {
    return new Response($status, ['Content-Type' => 'application/json'], json_encode($data));
}

$loop = React\EventLoop\Factory::create();
$server = new React\Http\Server($loop, function (ServerRequestInterface $request) use ($pdo, $parcels) {
    $query = $request->getQueryParams();
    switch ($request->getUri()->getPath()) {
        case '/parcel':
            $id = (int) ($query['id'] ?? 1);
            return isset($parcels[$id]) ? json($parcels[$id]) : json(['error' => 'unknown parcel'], 404);
        case '/depot':
            $st = $pdo->prepare('SELECT COUNT(DISTINCT parcel) AS parcels, SUM(weight) AS weight, MAX(note) AS last FROM scans WHERE MOD(depot, 5) = MOD(?, 5) OR note LIKE ?');
            $st->execute([(int) ($query['id'] ?? 1), '%abc%ff%']);
            return json($st->fetch(PDO::FETCH_ASSOC));
        default:
            return json(['service' => 'parcels']);
    }
});
$server->listen(new React\Socket\Server('127.0.0.1:' . getenv('PORT'), $loop));
$loop->run();

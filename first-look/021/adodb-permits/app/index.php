<?php
// Residents' parking permits: ADOdb on MariaDB, visitors are known by PHP's own session.
declare(strict_types=1);
require_once '/usr/share/php/adodb/adodb-exceptions.inc.php';
require_once '/usr/share/php/adodb/adodb.inc.php';

function db(): ADOConnection
{
    $db = ADONewConnection('mysqli');
    $db->port = (int) getenv('DB_PORT');
    $db->setFetchMode(ADODB_FETCH_ASSOC);
    $db->pConnect('127.0.0.1', 'portal', 'portal', 'parking');
    return $db;
}

function reply(mixed $data): void
{
    $body = json_encode($data);
    header('Content-Type: application/json');
    header('Content-Length: ' . strlen($body));
    echo $body;
}

function visitor(): void
{
    $t = hrtime(true);
    session_start();
    if ($log = getenv('TIMING_LOG')) {
        file_put_contents($log, sprintf("%.3f session %.2f\n", microtime(true), (hrtime(true) - $t) / 1e6), FILE_APPEND);
    }
    $_SESSION['seen'] = time();
}

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (preg_match('~^/permits/(\d+)$~', $path, $m)) {
    visitor();
    $row = db()->getRow(
        'SELECT p.id, p.plate, p.holder, p.valid_to, z.name AS zone, z.cents_hour
           FROM permits p JOIN zones z ON z.id = p.zone WHERE p.id = ?', [(int) $m[1]]);
    $_SESSION['permit'] = (int) $m[1];
    if (!$row) {
        http_response_code(404);
    }
    reply($row ?: ['error' => 'no such permit']);
} elseif ($path === '/zones') {
    reply(db()->getAll('SELECT id, name, cents_hour FROM zones ORDER BY id'));
} elseif ($path === '/health') {
    reply(['ok' => true]);
} else {
    http_response_code(404);
    reply(['error' => 'not found']);
}

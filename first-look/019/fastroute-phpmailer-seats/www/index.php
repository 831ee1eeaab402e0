<?php
declare(strict_types=1);
// Workshops: seats are booked here; a full table is announced to the instructor by mail.
require '/usr/share/php/FastRoute/autoload.php';

use function FastRoute\simpleDispatcher;

require __DIR__ . '/booking.php';

$dispatcher = simpleDispatcher(function (FastRoute\RouteCollector $r) {
    $r->get('/health', 'health');
    $r->get('/workshops/{id:\d+}', 'showWorkshop');
    $r->post('/workshops/{id:\d+}/seats', 'bookSeat');
});

$path = rawurldecode(strtok($_SERVER['REQUEST_URI'], '?'));
$route = $dispatcher->dispatch($_SERVER['REQUEST_METHOD'], $path);
try {
    switch ($route[0]) {
        case FastRoute\Dispatcher::FOUND:
            [$status, $data] = ($route[1])($route[2]);
            break;
        case FastRoute\Dispatcher::METHOD_NOT_ALLOWED:
            [$status, $data] = [405, ['error' => 'method not allowed']];
            break;
        default:
            [$status, $data] = [404, ['error' => 'not found']];
    }
} catch (Throwable $e) {
    error_log((string) $e);
    [$status, $data] = [500, ['error' => $e->getMessage()]];
}
$body = json_encode($data) . "\n";
http_response_code($status);
header('Content-Type: application/json');
header('Content-Length: ' . strlen($body));
echo $body;

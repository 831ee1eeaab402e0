<?php
// Fares of the price comparison: pages are rendered with Smarty, prices live in APCu and are
// renewed by the web hook of the carriers' feed.
declare(strict_types=1);
require_once '/usr/share/php/smarty4/Smarty.class.php';
require_once __DIR__ . '/fares.php';

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$method = $_SERVER['REQUEST_METHOD'];

function page(string $template, array $vars): void
{
    $smarty = new Smarty();
    $smarty->setTemplateDir(dirname(__DIR__) . '/templates');
    $smarty->setCompileDir(getenv('COMPILE_DIR'));
    $smarty->setCompileCheck(Smarty::COMPILECHECK_OFF);
    $smarty->setEscapeHtml(true);
    foreach ($vars as $k => $v) {
        $smarty->assign($k, $v);
    }
    $html = $smarty->fetch($template);
    header('Content-Type: text/html; charset=utf-8');
    header('Content-Length: ' . strlen($html));
    echo $html;
}

function json(mixed $data): void
{
    $body = json_encode($data);
    header('Content-Type: application/json');
    header('Content-Length: ' . strlen($body));
    echo $body;
}

if (preg_match('~^/fares/([A-Z]{3}-[A-Z]{3})$~', $path, $m)) {
    $store = new FareStore();
    $fares = $store->fares($m[1]);
    usort($fares, fn($a, $b) => $a['cents'] <=> $b['cents']);
    page('fares.tpl', ['route' => $m[1], 'fares' => $fares, 'currency' => $store->setting('currency')]);
} elseif ($path === '/hooks/fares' && $method === 'POST') {
    $hook = json_decode(file_get_contents('php://input'), true);
    (new FareStore())->renew($hook['route']);
    json(['ok' => true]);
} elseif ($path === '/about') {
    page('about.tpl', ['carriers' => ['KLM', 'Lufthansa', 'TAP', 'Brussels Airlines', 'SWISS']]);
} elseif ($path === '/health') {
    json(['ok' => true]);
} else {
    http_response_code(404);
    json(['error' => 'not found']);
}

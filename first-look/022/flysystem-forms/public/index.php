<?php
// Town hall's forms on Flysystem: a visitor reads a form, the portal remembers what he has read.
declare(strict_types=1);

require 'League/Flysystem/autoload.php';

use League\Flysystem\Adapter\Local;
use League\Flysystem\Filesystem;

$forms = new Filesystem(new Local(getenv('FORMS_DIR') ?: dirname(__DIR__) . '/forms', LOCK_SH));

function answer(int $status, array $data): void
{
    $text = json_encode($data, JSON_UNESCAPED_UNICODE);
    http_response_code($status);
    header('Content-Type: application/json');
    header('Content-Length: ' . strlen($text));
    echo $text;
}

function form(Filesystem $forms, string $name): void
{
    $begin = hrtime(true);
    session_start();
    $trace = getenv('FORMS_TRACE');
    if ($trace) {
        file_put_contents($trace, sprintf("%.3f session_start %.1f ms\n", microtime(true), (hrtime(true) - $begin) / 1e6), FILE_APPEND);
    }
    $path = $name . '.txt';
    if (!$forms->has($path)) {
        answer(404, ['error' => 'no such form']);
        return;
    }
    $seen = $_SESSION['seen'] ?? [];
    array_unshift($seen, $name);
    $_SESSION['seen'] = array_slice(array_unique($seen), 0, 8);
    session_write_close();
    answer(200, [
        'form' => $name,
        'bytes' => $forms->getSize($path),
        'text' => $forms->read($path),
        'seen' => $_SESSION['seen'],
    ]);
}

function catalogue(Filesystem $forms): void
{
    $list = [];
    foreach ($forms->listContents('', false) as $entry) {
        if ($entry['type'] === 'file') {
            $list[] = ['form' => $entry['filename'], 'bytes' => $entry['size']];
        }
    }
    answer(200, ['forms' => $list]);
}

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (preg_match('~^/forms/([a-z0-9-]{1,40})$~', $path, $match)) {
    form($forms, $match[1]);
} elseif ($path === '/forms') {
    catalogue($forms);
} elseif ($path === '/health') {
    answer(200, ['ok' => $forms->has('passport.txt')]);
} else {
    answer(404, ['error' => 'not found']);
}

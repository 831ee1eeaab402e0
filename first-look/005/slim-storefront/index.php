<?php
// A shop front: Slim, Twig, and a page that shows the stock of the warehouse service, kept in APCu for 0.8 s.
require 'Slim/autoload.php';
require 'Twig/autoload.php';

use Psr\Http\Message\ResponseInterface as Response;
use Psr\Http\Message\ServerRequestInterface as Request;

function stock(string $shelf): array
{
    $kept = apcu_fetch("stock:$shelf");
    if ($kept === false || $kept['until'] < microtime(true)) {
        $url = 'http://127.0.0.1:' . getenv('STOCK_PORT') . "/shelf/$shelf";
        $kept = ['stock' => json_decode(file_get_contents($url), true), 'until' => microtime(true) + 0.8];
        apcu_store("stock:$shelf", $kept);
    }
    return $kept['stock'];
}

function twig(): Twig\Environment
{
    return new Twig\Environment(new Twig\Loader\FilesystemLoader(__DIR__ . '/templates'), ['cache' => getenv('TWIG_CACHE')]);
}

$app = new Slim\App();
$app->get('/shelf/{shelf}', function (Request $request, Response $response, array $args) {
    $response->getBody()->write(twig()->render('shelf.html', ['stock' => stock($args['shelf'])]));
    return $response;
});
$app->get('/catalog/{page}', function (Request $request, Response $response, array $args) {
    $items = [];
    for ($i = 0; $i < 240; $i++) {
        $n = $args['page'] * 240 + $i;
        $items[] = ['name' => "Article $n", 'price' => ($n * 37 % 9000) / 100, 'text' => str_repeat("Sturdy & plain. ", 1 + $n % 4)];
    }
    usort($items, fn ($a, $b) => $a['price'] <=> $b['price']);
    $response->getBody()->write(twig()->render('catalog.html', ['items' => $items, 'page' => $args['page']]));
    return $response;
});
$app->run();

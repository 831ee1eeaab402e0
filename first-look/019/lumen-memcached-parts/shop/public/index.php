<?php
// Spare parts shop: product pages from the cache, from the database where the cache has nothing.
require '/usr/share/php/Laravel/Lumen/autoload.php';
require __DIR__ . '/../app/PartController.php';

error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
$app = new Laravel\Lumen\Application(dirname(__DIR__));
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
$app->configure('app');
$app->configure('cache');
$app->configure('database');
$app->withFacades();
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, Laravel\Lumen\Exceptions\Handler::class);
$app->singleton(Illuminate\Contracts\Console\Kernel::class, Laravel\Lumen\Console\Kernel::class);

$app->router->get('/health', 'App\PartController@health');
$app->router->get('/parts/{id:[0-9]+}', 'App\PartController@show');
$app->router->get('/parts/{id:[0-9]+}/stock', 'App\PartController@stock');

$app->run();

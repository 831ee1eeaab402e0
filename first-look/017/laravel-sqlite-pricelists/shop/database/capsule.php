<?php
// the database for the programs beside the web server

require_once 'Illuminate/autoload.php';
error_reporting(E_ALL & ~E_DEPRECATED);

$capsule = new Illuminate\Database\Capsule\Manager();
$capsule->addConnection([
    'driver' => 'sqlite',
    'database' => __DIR__.'/shop.sqlite',
    'prefix' => '',
]);

return $capsule;

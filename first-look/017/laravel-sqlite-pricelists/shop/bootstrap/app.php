<?php

require_once 'Illuminate/autoload.php';

spl_autoload_register(function ($class) {
    if (strncmp($class, 'App\\', 4) === 0) {
        require dirname(__DIR__).'/app/'.strtr(substr($class, 4), '\\', '/').'.php';
    }
});

$app = new Illuminate\Foundation\Application(dirname(__DIR__));
$app->singleton(Illuminate\Contracts\Http\Kernel::class, App\Http\Kernel::class);
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, App\Exceptions\Handler::class);

return $app;

<?php

return [
    'default' => 'errorlog',
    'deprecations' => 'null',
    'channels' => [
        'errorlog' => ['driver' => 'errorlog', 'level' => 'warning'],
        'null' => ['driver' => 'monolog', 'handler' => Monolog\Handler\NullHandler::class],
    ],
];

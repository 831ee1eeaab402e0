<?php
return [
    'default' => 'sqlite',
    'connections' => ['sqlite' => ['driver' => 'sqlite', 'database' => $_SERVER['PARTS_DB'], 'prefix' => '']],
    'migrations' => 'migrations',
];

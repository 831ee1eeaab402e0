<?php
// one file with the whole configuration, like artisan config:cache

require __DIR__.'/bootstrap/app.php';
$config = [];
foreach (glob(__DIR__.'/config/*.php') as $file) {
    $config[basename($file, '.php')] = require $file;
}
file_put_contents(__DIR__.'/bootstrap/cache/config.php',
    '<?php return '.var_export($config, true).';');

<?php
return [
    'default' => 'memcached',
    'prefix' => 'shop',
    'stores' => [
        'memcached' => [
            'driver' => 'memcached',
            'persistent_id' => 'shop',
            'options' => [
                Memcached::OPT_TCP_NODELAY => true,
                Memcached::OPT_CONNECT_TIMEOUT => 100,
                Memcached::OPT_POLL_TIMEOUT => 100,
                Memcached::OPT_RETRY_TIMEOUT => 1,
            ],
            'servers' => array_map(
                fn ($port) => ['host' => '127.0.0.1', 'port' => (int) $port, 'weight' => 100],
                explode(',', $_SERVER['CACHE_NODES'])
            ),
        ],
    ],
];

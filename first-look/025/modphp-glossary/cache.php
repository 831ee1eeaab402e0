<?php
/** The connection to memcached; it is kept by the process for the requests that follow. */
function cache(): Memcached
{
    $cache = new Memcached('glossary');
    if (!$cache->getServerList()) {
        $cache->setOption(Memcached::OPT_BINARY_PROTOCOL, true);
        $cache->setOption(Memcached::OPT_TCP_NODELAY, getenv('MEMCACHED_NODELAY') === '1');
        $cache->addServer('127.0.0.1', (int) getenv('MEMCACHED_PORT'));
    }
    return $cache;
}

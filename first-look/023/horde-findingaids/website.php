<?php
/**
 * website.php PORT REDIS_PORT CLEAR: the public web site of the library, on the same Redis.
 *
 * Its search index takes up a changed page every 350 ms, and all cached results of the index are dropped then.
 * CLEAR=script: KEYS and DEL in a script, as the cache backend came.
 * CLEAR=set: the keys of the index are kept in a set of their own, and those are unlinked.
 */
error_reporting(E_ALL & ~E_DEPRECATED);
require_once 'Predis/autoload.php';
[, $port, $redisPort, $clear] = $argv;
$server = stream_socket_server("tcp://127.0.0.1:$port");    // the state of the indexer: one line
$redis = new Predis\Client(['scheme' => 'tcp', 'host' => '127.0.0.1', 'port' => $redisPort, 'read_write_timeout' => 0]);
while (true) {
    try {
        $redis->exists('website');
        break;
    } catch (Predis\Response\ServerException $e) {    // it is still loading
        usleep(100000);
    }
}
const PREFIX = 'website:cache_search_api:staging';
const SET = 'website:keys_of:search_api:staging';
const SCRIPT = <<<'LUA'
local keys = redis.call("KEYS", ARGV[1])
for i, k in ipairs(keys) do
    redis.call("DEL", k)
end
return 1
LUA;
$indexed = 0;
$next = microtime(true);
for (;;) {
    $indexed++;
    for ($i = 0; $i < 5; $i++) {
        $redis->set(PREFIX . ":page-$indexed:$i", str_repeat('result ', 40));
        if ($clear === 'set') {
            $redis->sadd(SET, [PREFIX . ":page-$indexed:$i"]);
        }
    }
    if ($clear === 'script') {
        $redis->eval(SCRIPT, 0, PREFIX . '*');
    } else {
        $redis->executeRaw(array_merge(['UNLINK', SET], $redis->smembers(SET)));
    }
    $next = max($next + 0.35, microtime(true) + 0.15);
    while (($wait = $next - microtime(true)) > 0) {
        if ($client = @stream_socket_accept($server, $wait)) {
            fwrite($client, "pages indexed: $indexed\n");
            fclose($client);
        }
    }
}

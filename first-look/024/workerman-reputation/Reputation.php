<?php
use Workerman\Connection\AsyncTcpConnection;

/** Asks the threat service by its command line client: a pipe to curl, read to its end. */
class CommandReputation
{
    public function __construct(private int $port)
    {
    }

    public function look(string $address, callable $done): void
    {
        $url = escapeshellarg("http://127.0.0.1:{$this->port}/reputation/$address");
        $pipe = popen("exec curl -s -m 5 $url", 'r');
        $text = stream_get_contents($pipe);
        pclose($pipe);
        $done(json_decode($text, true));
    }
}

/** The same by connections of the event loop, which are kept. */
class AsyncReputation
{
    /** @var AsyncTcpConnection[] */
    private array $idle = [];

    public function __construct(private int $port)
    {
    }

    public function look(string $address, callable $done): void
    {
        $request = "GET /reputation/$address HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
        $text = '';
        $connection = array_pop($this->idle);
        $fresh = $connection === null;
        if ($fresh) {
            $connection = new AsyncTcpConnection("tcp://127.0.0.1:{$this->port}");
        }
        $connection->onMessage = function ($connection, $data) use (&$text, $done) {
            $text .= $data;
            [$head, $body] = explode("\r\n\r\n", $text, 2) + [1 => ''];
            if (!preg_match('/^content-length: *(\d+)/mi', $head, $m) || strlen($body) < (int) $m[1]) {
                return;
            }
            $text = '';
            $this->idle[] = $connection;
            $done(json_decode($body, true));
        };
        $connection->onError = function () use ($done) {
            $done(null);
        };
        $connection->onClose = function ($connection) {
            $this->idle = array_values(array_filter($this->idle, fn ($other) => $other !== $connection));
        };
        if ($fresh) {
            $connection->connect();
        }
        $connection->send($request);
    }
}

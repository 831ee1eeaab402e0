<?php
function db(): PDO {
    return new PDO('mysql:host=127.0.0.1;port=' . getenv('DB_PORT') . ';dbname=shop', 'shop', 'shop',
        [PDO::ATTR_PERSISTENT => true, PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
}

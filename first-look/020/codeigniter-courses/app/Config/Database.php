<?php

namespace Config;

use CodeIgniter\Database\Config;

class Database extends Config
{
    public $filesPath    = APPPATH . 'Database' . DIRECTORY_SEPARATOR;
    public $defaultGroup = 'default';
    public $default      = [
        'DSN'      => '',
        'hostname' => '',
        'username' => '',
        'password' => '',
        'database' => '',
        'DBDriver' => 'SQLite3',
        'DBPrefix' => '',
        'pConnect' => false,
        'DBDebug'  => false,
        'charset'  => 'utf8',
        'DBCollat' => 'utf8_general_ci',
        'swapPre'  => '',
        'encrypt'  => false,
        'compress' => false,
        'strictOn' => false,
        'failover' => [],
        'port'     => 0,
    ];

    public function __construct()
    {
        parent::__construct();
        $this->default['database'] = getenv('COURSES_DB') ?: ($_SERVER['COURSES_DB'] ?? '');
    }
}

<?php
require 'db.php';
echo db()->query('SELECT COUNT(*) FROM items')->fetchColumn();

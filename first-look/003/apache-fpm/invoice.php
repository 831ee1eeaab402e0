<?php
// An invoice: asks the numbering service, which takes its time, then prints.
usleep(isset($_GET['batch']) ? 250000 : 12000);
header('Content-Type: text/plain');
echo 'invoice ', htmlspecialchars($_GET['id'] ?? '0'), "\n";

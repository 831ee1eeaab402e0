<?php
// the visitors of the last days, as the site finds them: sessions.php DIRECTORY COUNT
[, $dir, $count] = $argv;
for ($i = 0; $i < $count; $i++) {
    $id = sha1('visitor ' . $i);
    file_put_contents("$dir/ci_session$id", '__ci_last_regenerate|i:' . (time() + 60) . ';name|s:' . strlen("Visitor $i") . ":\"Visitor $i\";seen|i:1;");
}

<?php
// a price table: every page computes it anew, about 4 ms
$rows = [];
for ($i = 1; $i <= 12000; $i++) {
    $rows[$i % 40] = ($rows[$i % 40] ?? 0) + sqrt($i) * sin($i) + strlen((string)$i);
}
echo "<table>";
foreach ($rows as $k => $v) {
    printf("<tr><td>%d</td><td>%.2f</td></tr>", $k, $v);
}
echo "</table>\n";

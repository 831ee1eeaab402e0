<?php
// writes the guides: most are a page; two have grown over the years
mkdir($argv[1], 0755, true);
$words = ['filter', 'pump', 'valve', 'seal', 'pressure', 'tank', 'hose', 'sensor', 'clean', 'replace', 'check', 'open'];
function text($words, $n, $seed) {
    $out = [];
    for ($i = 0; $i < $n; $i++) {
        $out[] = $words[($i * 7 + $seed * 5 + intdiv($i, 3)) % count($words)];
    }
    return implode(' ', $out);
}
$size = ['first-use' => 1, 'cleaning' => 1, 'storage' => 1, 'warranty' => 1, 'filters' => 1, 'hoses' => 1, 'winter' => 1,
    'safety' => 1, 'disposal' => 1, 'spare-parts' => 110, 'fault-codes' => 80];
foreach ($size as $name => $parts) {
    $md = "# $name\n\n";
    for ($p = 0; $p < $parts; $p++) {
        $md .= "## Part $p\n\n" . text($words, 40, $p) . ' **' . text($words, 3, $p) . '** see [the manual](/manual/' . $p . ").\n\n";
        $md .= "| code | meaning | what to do |\n|---|---|---|\n";
        for ($r = 0; $r < 3; $r++) {
            $md .= "| `E$p$r` | " . text($words, 4, $r) . ' | *' . text($words, 5, $p + $r) . "* |\n";
        }
        $md .= "\n- " . text($words, 8, 1) . "\n- " . text($words, 8, 2) . "\n\n";
    }
    file_put_contents("$argv[1]/$name.md", $md);
}

use strict; use DBI;
unlink $ARGV[0];
my $db = DBI->connect("dbi:SQLite:dbname=$ARGV[0]", '', '', { RaiseError => 1, AutoCommit => 0 });
$db->do('CREATE TABLE recipe (id INTEGER PRIMARY KEY, title TEXT, minutes INT)');
$db->do('CREATE TABLE step (recipe INT, n INT, step TEXT)');
for my $i (1 .. 400) {
    $db->do('INSERT INTO recipe VALUES (?,?,?)', undef, $i, "recipe $i", 10 + $i * 7 % 90);
    $db->do('INSERT INTO step VALUES (?,?,?)', undef, $i, $_, "step $_ of recipe $i: " . 'stir well ' x 8) for 1 .. 12;
}
$db->do('CREATE INDEX step_recipe ON step (recipe, n)');
$db->do('CREATE INDEX recipe_title ON recipe (title)');
$db->commit;

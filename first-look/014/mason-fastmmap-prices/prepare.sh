#!/bin/sh
# usage: prepare.sh CACHE
set -e
rm -f "$1/goods.db"
perl -MDBI -e '
my $db = DBI->connect("dbi:SQLite:dbname=$ARGV[0]", "", "", {RaiseError => 1});
$db->do("create table goods (id integer primary key, name text, grams integer)");
$db->begin_work;
$db->do("insert into goods values (?,?,?)", undef, $_, "article $_", 100 + ($_ * 37) % 4000) for 1 .. 2000;
$db->commit;
' "$1/goods.db"

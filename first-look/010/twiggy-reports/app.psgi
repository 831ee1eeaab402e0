use strict;
use warnings;
use DBI;
use JSON::PP;

my $dbh = DBI->connect("dbi:Pg:dbname=postgres;host=127.0.0.1;port=$ENV{DB_PORT}",
    'postgres', '', { RaiseError => 1, AutoCommit => 1 });

my $items = $dbh->selectall_hashref('select id, name, price, stock from item', 'id');

my $by_region = $dbh->prepare(<<'SQL');
select s.region, count(distinct s.item_id) as items, sum(s.qty * i.price) as turnover
from sale s join item i on i.id = s.item_id
where s.sold between ?::date and ?::date
group by s.region order by s.region
SQL

sub json { [200, ['Content-Type' => 'application/json'], [encode_json($_[0])]] }

sub {
    my $env = shift;
    my $path = $env->{PATH_INFO};
    if ($path =~ m{^/item/(\d+)$}) {
        return $items->{$1} ? json($items->{$1}) : [404, [], []];
    }
    if ($path eq '/report') {
        $by_region->execute('2026-02-01', '2026-04-30');
        return json($by_region->fetchall_arrayref({}));
    }
    return json({ ok => 1 });
};

# Recipes: pages out of SQLite, with two or three memcached in front of it
use strict;
use warnings;
use Cache::Memcached::Fast;
use DBI;
use JSON::XS;

my ($cache, $db);
my $json = JSON::XS->new->canonical->utf8;

sub fresh {
    $cache ||= Cache::Memcached::Fast->new({
        servers         => [ map { { address => "127.0.0.1:$_" } } split /,/, $ENV{MEMCACHED_PORTS} ],
        namespace       => 'recipes:',
        connect_timeout => 0.15,
        io_timeout      => 0.15,
        max_failures    => 0,
        utf8            => 1,
    });
    $db ||= DBI->connect("dbi:SQLite:dbname=$ENV{RECIPES_DB}", '', '', { RaiseError => 1, sqlite_open_flags => 1 });
}

sub recipe {
    my $id = shift;
    my $page = $cache->get("recipe/$id");
    return $page if defined $page;
    my $r = $db->selectrow_hashref('SELECT id, title, minutes FROM recipe WHERE id = ?', undef, $id) or return '{}';
    $r->{steps} = $db->selectcol_arrayref('SELECT step FROM step WHERE recipe = ? ORDER BY n', undef, $id);
    $page = $json->encode($r);
    $cache->set("recipe/$id", $page, 600);
    return $page;
}

sub {
    my $env = shift;
    fresh();
    my ($id) = $env->{QUERY_STRING} =~ /id=(\d+)/;
    my $body = $env->{PATH_INFO} eq '/recipe' ? recipe($id || 1)
             : $env->{PATH_INFO} eq '/titles' ? $json->encode($db->selectcol_arrayref('SELECT title FROM recipe ORDER BY title LIMIT 50'))
             : '{}';
    return [ 200, [ 'Content-Type' => 'application/json', 'Content-Length' => length $body ], [ $body ] ];
};

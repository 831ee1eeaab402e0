use strict; use warnings;
use DBI; use HTTP::Tiny; use Plack::Request;

# loaded in each worker
my $db = DBI->connect("dbi:Pg:dbname=postgres;host=127.0.0.1;port=$ENV{DB_PORT}", "postgres", "",
    { RaiseError => 1, AutoCommit => 1 });
my $ua = HTTP::Tiny->new(keep_alive => 1);

sub {
    my $req = Plack::Request->new(shift);
    my $id = $req->param('id') // 1;
    if ($req->path eq '/buy') {
        $db->do('update product set stock = stock - 1 where id = ?', undef, $id);
        return [200, ['Content-Type' => 'text/plain'], ["bought $id\n"]];
    }
    if ($req->path eq '/reprice') {
        $db->begin_work;
        $db->selectrow_array('select price from product where id = ? for update', undef, $id);
        my $new = 10;
        if ($ENV{SUPPLIER}) {
            my $r = $ua->get("http://127.0.0.1:$ENV{SUPPLIER}/price/$id");
            $new = 11 if $r->{success};
        }
        $db->do('update product set price = ? where id = ?', undef, $new, $id);
        $db->commit;
        return [200, ['Content-Type' => 'text/plain'], ["price $new\n"]];
    }
    $db->selectrow_array('select 1');
    return [200, ['Content-Type' => 'text/plain'], ["shop\n"]];
};

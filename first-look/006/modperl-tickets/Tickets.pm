package Tickets;
use strict; use warnings;
use APR::Table (); use Apache2::RequestRec (); use Apache2::RequestIO (); use Apache2::Const -compile => qw(OK NOT_FOUND);
use DBI; use HTTP::Tiny; use JSON::PP;

my ($db, $http, $pid);

sub connections {
    unless ($pid && $pid == $$) {
        $db = DBI->connect("dbi:Pg:dbname=shop;host=127.0.0.1;port=$ENV{DB_PORT}", 'shop', '', { RaiseError => 1, AutoCommit => 1 });
        $http = HTTP::Tiny->new(keep_alive => 1, timeout => 10);
        $pid = $$;
    }
}

# pays for a ticket and takes it from the event's seats
sub book {
    my $id = shift;
    $db->begin_work;
    my ($left) = $db->selectrow_array('select seats_left from events where id = ? for update', undef, $id);
    my $paid = $http->get("http://127.0.0.1:$ENV{PAY_PORT}/charge?event=$id");
    $db->do('update events set seats_left = seats_left - 1 where id = ?', undef, $id);
    $db->do('insert into bookings (event_id, receipt) values (?, ?)', undef, $id, $paid->{content});
    $db->commit;
    return { event => $id, receipt => $paid->{content}, left => $left - 1 };
}

# puts seats into a basket
sub reserve {
    my $id = shift;
    my ($left) = $db->selectrow_array('update events set seats_left = seats_left - 1 where id = ? returning seats_left', undef, $id);
    return { event => $id, left => $left };
}

sub show { return $db->selectrow_hashref('select id, title, town from events where id = ?', undef, shift) }

my %page = (book => \&book, reserve => \&reserve, event => \&show);

sub handler {
    my $r = shift;
    my ($what, $id) = $r->uri =~ m{^/(\w+)/(\d+)$} or return Apache2::Const::NOT_FOUND;
    my $do = $page{$what} or return Apache2::Const::NOT_FOUND;
    connections();
    my $json = encode_json($do->($id));
    $r->content_type('application/json');
    $r->headers_out->set('Content-Length' => length $json);
    $r->print($json);
    return Apache2::Const::OK;
}
1;

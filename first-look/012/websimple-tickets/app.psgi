package Tickets;
use Web::Simple;
use DBI;
use DBD::mysql;
use HTTP::Tiny;
use JSON::PP;

my ($db, $bank);

sub db {
    $db ||= DBI->connect("DBI:mysql:database=tickets;host=127.0.0.1;port=$ENV{DB_PORT}", "root", "",
        { RaiseError => 1, AutoCommit => 1 });
}

sub bank { $bank ||= HTTP::Tiny->new(keep_alive => 1, timeout => 5) }

sub reply { [200, ["Content-Type" => "application/json"], [encode_json($_[0])]] }

sub seat {
    my ($event) = @_;
    db->begin_work;
    db->do("UPDATE event SET free = free - 1 WHERE id = ?", undef, $event);
    db->do("INSERT INTO booking (event, seats) VALUES (?, 1)", undef, $event);
    db->commit;
    reply({ event => $event, seats => 1 });
}

# a group pays before its seats are given; PAY=outside pays first and then takes them
sub group {
    my ($event) = @_;
    my $pay = sub { bank->get("http://127.0.0.1:$ENV{BANK_PORT}/pay")->{content} };
    my $early = ($ENV{PAY} // "") eq "outside" ? $pay->() : undef;
    db->begin_work;
    my ($free) = db->selectrow_array("SELECT free FROM event WHERE id = ? FOR UPDATE", undef, $event);
    my $receipt = $early // $pay->();
    db->do("UPDATE event SET free = free - 12 WHERE id = ?", undef, $event);
    db->do("INSERT INTO booking (event, seats, receipt) VALUES (?, 12, ?)", undef, $event, $receipt);
    db->commit;
    reply({ event => $event, seats => 12, free => $free });
}

sub event {
    my ($event) = @_;
    my $row = db->selectrow_hashref("SELECT id, name, free FROM event WHERE id = ?", undef, $event);
    reply({ event => $row });
}

sub programme {
    my ($from) = @_;
    my $rows = db->selectall_arrayref("SELECT id, name, free FROM event WHERE id > ? ORDER BY id LIMIT 120", undef, $from);
    reply({ events => $rows });
}

sub dispatch_request {
    "GET + /health" => sub { [200, ["Content-Type" => "text/plain"], ["ok"]] },
    "GET + /event/*" => sub { event($_[1] % 400 + 1) },
    "GET + /programme/*" => sub { programme($_[1] % 250) },
    "POST + /seat/*" => sub { seat($_[1]) },
    "POST + /group/*" => sub { group($_[1]) },
}

Tickets->to_psgi_app;

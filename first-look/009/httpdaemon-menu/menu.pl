#!/usr/bin/perl
use strict;
use warnings;
use HTTP::Daemon;
use HTTP::Response;
use JSON::PP;

# The menu of the day, for the signs in the canteen. One child per connection.
my $port = shift;
my @dishes = map { { id => $_, name => "Dish $_", price => 350 + $_ * 7 % 600 } } 1 .. 60;

my $d = HTTP::Daemon->new(LocalAddr => '127.0.0.1', LocalPort => $port, ReuseAddr => 1, Listen => 128) or die "listen: $!";
$SIG{CHLD} = 'IGNORE';
while (1) {
    my $c = $d->accept or next;
    my $pid = fork // die "fork: $!";
    if ($pid) { $c->close; undef $c; next }
    while (my $r = $c->get_request) {
        if ($r->uri->path eq '/health') {
            $c->send_response(HTTP::Response->new(204));
        }
        elsif ($r->uri->path =~ m{^/menu/(\d+)$}) {
            my $day  = $1;
            my @menu = map { $dishes[($day * 11 + $_ * 7) % @dishes] } 1 .. 6;
            $c->send_response(HTTP::Response->new(200, 'OK', ['Content-Type' => 'application/json'], encode_json(\@menu)));
        }
        else { $c->send_error(404) }
    }
    $c->close;
    exit 0;
}

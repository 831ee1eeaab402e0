# heights of the tide at a harbour, from its constituents
use strict; use warnings;
use JSON::PP;

my $json = JSON::PP->new->canonical;
my @parts = map { [ 0.1 + $_ / 9, 12.42 / $_, $_ * 0.7 ] } 1 .. 9;

sub heights {
    my ($day, $points) = @_;
    my @h;
    for my $i (0 .. $points - 1) {
        my $t = $day * 24 + $i * 24 / $points;
        my $sum = 0;
        $sum += $_->[0] * cos(6.2832 * $t / $_->[1] + $_->[2]) for @parts;
        push @h, { t => sprintf('%.2f', $t), h => sprintf('%.3f', $sum) };
    }
    return \@h;
}

sub {
    my $env = shift;
    my ($what, $day) = $env->{PATH_INFO} =~ m{^/(day|table)/(\d+)$} or return [ 404, [ 'Content-Type' => 'text/plain' ], ['no'] ];
    my $body = $json->encode(heights($day, $what eq 'day' ? 168 : 336));
    return [ 200, [ 'Content-Type' => 'application/json', 'Content-Length' => length $body ], [$body] ];
};

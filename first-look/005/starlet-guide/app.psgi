# Travel guide: pages written in Markdown, one PSGI application.
use strict;
use warnings;
use JSON::PP ();
use Plack::Request;
use Text::Markdown qw(markdown);

my @towns = do {
    open my $fh, '<', $ENV{GUIDE_TOWNS} or die "towns: $!";
    local $/;
    @{ JSON::PP->new->decode(<$fh>) };
};

sub {
    my $req = Plack::Request->new(shift);
    my ($n) = $req->path =~ m{^/town/(\d+)$} or return [404, ['Content-Type' => 'text/plain'], ["no such page\n"]];
    my $town = $towns[$n % @towns];
    my $html = markdown(join "\n", "# $town->{name}", '', $town->{about}, '', map { "* **$_->[0]**: $_->[1] inhabitants" } @{ $town->{parts} });
    my $body = "<title>$town->{name}</title>$html\n";
    [200, ['Content-Type' => 'text/html', 'Content-Length' => length $body], [$body]];
};

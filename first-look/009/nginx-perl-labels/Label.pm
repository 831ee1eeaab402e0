package Label;
# A shipping label with a checksum stretched over many rounds, as the carrier demands.
use strict;
use nginx;
use Digest::SHA qw(sha256 sha256_hex);

sub stretch {
    my ($text, $rounds) = @_;
    my $sum = sha256($text);
    $sum = sha256($sum . $text) for 1 .. $rounds;
    return sha256_hex($sum);
}

sub handler {
    my $r = shift;
    my $id = $r->args || '1';
    my $copies = $r->uri =~ /sheet/ ? 6 : 1;
    my $body = '';
    $body .= "label $id/$_ " . stretch("$id/$_", $ENV{ROUNDS}) . "\n" for 1 .. $copies;
    $r->header_out('Content-Length', length $body);
    $r->send_http_header('text/plain');
    $r->print($body) unless $r->header_only;
    return OK;
}
1;

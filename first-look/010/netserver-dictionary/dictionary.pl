#!/usr/bin/perl
package Dictionary;
use strict;
use warnings;
use base 'Net::Server::HTTP';
use FindBin;
use JSON::PP;

sub soundex {
    my $w = uc shift;
    (my $t = $w) =~ tr/AEIOUYHWBFPVCGJKQSXZDTLMNR/00000000111122222222334556/;
    $t =~ s/(.)\1+/$1/g;
    my $r = substr($w, 0, 1) . substr($t, 1);
    $r =~ tr/0//d;
    return substr($r . '000', 0, 4);
}

# the words by their sound, read when first needed
my $words;

sub dictionary {
    return $words if $words;
    my %by;
    open my $f, '<', "$FindBin::Bin/words.txt" or die $!;
    while (<$f>) { chomp; push @{ $by{ soundex($_) } }, $_ }
    return $words = \%by;
}

sub process_http_request {
    my $self = shift;
    if (my ($w) = $ENV{PATH_INFO} =~ m{^/similar/(\w+)$}) {
        my @hits = sort @{ dictionary()->{ soundex($w) } || [] };
        splice @hits, 40 if @hits > 40;
        print "Content-Type: application/json\n\n", encode_json({ word => $w, similar => \@hits });
    }
    else {
        print "Content-Type: text/plain\n\nok";
    }
}

__PACKAGE__->run(
    host         => '127.0.0.1',
    port         => $ARGV[0],
    ipv          => 4,
    server_type  => 'PreForkSimple',
    max_servers  => $ENV{WORKERS} || 6,
    max_requests => $ENV{MAX_REQUESTS} || 1000,
    timeout_header => 2,
    log_level    => 1,
    access_log_file => '/dev/null',
);

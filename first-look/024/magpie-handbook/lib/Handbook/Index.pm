package Handbook::Index;
# The index of the handbook: one client per worker process (made before the fork, connected after it).
use strict;
use warnings;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Search::Elasticsearch;

if (($ENV{INDEX_NODELAY} || '') eq 'yes') {
    # HTTP::Tiny has no option for it: set TCP_NODELAY on each connection that it makes
    require HTTP::Tiny;
    no warnings 'redefine';
    my $connect = \&HTTP::Tiny::Handle::connect;
    *HTTP::Tiny::Handle::connect = sub {
        my $handle = $connect->(@_);
        setsockopt($handle->{fh}, IPPROTO_TCP, TCP_NODELAY, 1) or die "TCP_NODELAY: $!";
        return $handle;
    };
}

my $client;

sub client {
    return $client ||= Search::Elasticsearch->new(
        nodes => "127.0.0.1:$ENV{INDEX_PORT}", cxn_pool => 'Static::NoPing', request_timeout => 10, max_retries => 0);
}

1;

# Library catalogue: a title, and for titles that are out of print the other
# editions that are on the shelf (a search in Elasticsearch).
use strict;
use warnings;
use JSON::PP ();
use Plack::Request;
use Search::Elasticsearch;
use Time::HiRes qw(time);

my $json = JSON::PP->new->canonical;
my $es;    # one client in each worker process
my $trace = $ENV{EDITIONS_TRACE};

sub es {
    return $es ||= Search::Elasticsearch->new(
        nodes            => ["127.0.0.1:$ENV{ES_PORT}"],
        send_get_body_as => $ENV{SEND_BODY_AS} || 'GET',
        request_timeout  => 5,
    );
}

sub answer {
    my ($code, $data) = @_;
    my $body = $json->encode($data);
    return [$code, ['Content-Type' => 'application/json', 'Content-Length' => length $body], [$body]];
}

sub note {
    my ($what, $t0) = @_;
    open my $fh, '>>', $trace or return;
    syswrite $fh, sprintf("%s %.1f\n", $what, (time - $t0) * 1000);
}

sub title {
    my $id  = shift;
    my $t0  = time;
    my $doc = es()->get(index => 'titles', id => $id)->{_source};
    note(get => $t0) if $trace;
    if (!$doc->{in_print}) {
        $t0 = time;
        my $found = es()->search(
            index => 'titles',
            body  => {
                query => { bool => { must => [ { match => { work => $doc->{work} } } ], filter => [ { term => { in_print => JSON::PP::true } } ] } },
                size  => 5,
            },
        );
        note(search => $t0) if $trace;
        $doc->{other_editions} = [ map { $_->{_source} } @{ $found->{hits}{hits} } ];
    }
    return answer(200, $doc);
}

# load the client's modules before the workers are forked (no connection is made)
{ my $warm = es(); $warm->transport; undef $es }

my %branch = map { $_ => { branch => $_, opens => '09:00', closes => (17 + $_ % 4) . ':30' } } 1 .. 30;

sub {
    my $req  = Plack::Request->new(shift);
    my $path = $req->path_info;
    return answer(200, { ok => 1 }) if $path eq '/health';
    return title($1) if $path =~ m{^/titles/(\d+)$};
    return answer(200, $branch{$1}) if $path =~ m{^/branches/(\d+)$} && $branch{$1};
    return answer(404, { error => 'not found' });
};

# Public notices of a town: read one, or publish its page to the document store (nginx, WebDAV).
use strict;
use warnings;
use FindBin;
use lib $ENV{APP_LIB};
use Plack::Builder;
use Web::Machine;
use Notices::Data;
use Notices::Store;
use Notices::Resource::Notice;
use Notices::Resource::Publication;

my %deps = (data => Notices::Data->new, store => Notices::Store->new(port => $ENV{STORE_PORT}));

my $app = builder {
    mount '/health' => sub { [200, ['Content-Type' => 'text/plain', 'Content-Length' => 3], ["ok\n"]] };
    mount '/notices' => Web::Machine->new(
        resource => 'Notices::Resource::Notice', resource_args => [%deps])->to_app;
    mount '/publications' => Web::Machine->new(
        resource => 'Notices::Resource::Publication', resource_args => [%deps])->to_app;
};

# The master calls each resource once before it forks, so that no worker has to load modules
# or compile templates of its own.
{
    my $ua = LWP::UserAgent->new(agent => 'notices/2.3', timeout => 10);
    $ua->put("http://127.0.0.1:$ENV{STORE_PORT}/pages/start.html", Content => 'started');
    for my $call ([GET => '/notices/2', ''], [POST => '/publications/1', '{"by": "start"}']) {
        open my $in, '<', \$call->[2] or die $!;
        my $res = $app->({
            REQUEST_METHOD => $call->[0], SCRIPT_NAME => '', PATH_INFO => $call->[1], REQUEST_URI => $call->[1],
            QUERY_STRING => '', SERVER_NAME => 'localhost', SERVER_PORT => 80, SERVER_PROTOCOL => 'HTTP/1.1',
            HTTP_HOST => 'localhost', CONTENT_TYPE => 'application/json', CONTENT_LENGTH => length $call->[2],
            'psgi.version' => [1, 1], 'psgi.url_scheme' => 'http', 'psgi.input' => $in, 'psgi.errors' => \*STDERR,
            'psgi.multithread' => 0, 'psgi.multiprocess' => 1, 'psgi.run_once' => 0, 'psgi.nonblocking' => 0,
            'psgi.streaming' => 1, 'psgix.input.buffered' => 1 });
        die "start: $call->[1] gave $res->[0]\n" if ref $res eq 'ARRAY' && $res->[0] >= 400;
    }
}

$app;

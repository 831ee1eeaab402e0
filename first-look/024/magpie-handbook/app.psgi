use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib", "$ENV{HANDBOOK_HOME}/lib";
use Plack::Builder;
use Plack::Middleware::Magpie;
use Handbook::Index;
use Handbook::Resource::Search;
use Handbook::Resource::Article;
use Handbook::Resource::Health;

# made before the workers are forked; each of them connects for itself
Handbook::Index::client();

builder {
    enable 'Magpie', context => {}, pipeline => [
        machine {
            match qr{^/search}       => ['Handbook::Resource::Search'];
            match qr{^/articles/\d+} => ['Handbook::Resource::Article'];
            match qr{^/health}       => ['Handbook::Resource::Health'];
        }
    ];
    sub { [404, ['Content-Type' => 'text/plain'], ["not found\n"]] };
};

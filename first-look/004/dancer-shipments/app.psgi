package Shipments;
use Dancer2;
use LWP::UserAgent;

set serializer => 'JSON';
my $carrier = $ENV{CARRIER};
my $ua = LWP::UserAgent->new(keep_alive => 4, timeout => 5);
my @forms = map { "article $_;hs code 8471.30;origin DE;value 12.50 EUR;weight 0.4 kg" } 1 .. 330;

# every eighth order goes abroad and carries its customs declaration
sub declaration { $_[0] % 8 ? '' : join "\n", @forms }

get '/health' => sub { return { ok => 1 } };

post '/shipments/:order' => sub {
    my $order = route_parameters->get('order');
    my $answer = $ua->post("$carrier/labels",
        Content_Type => 'text/plain',
        Content => "order: $order\nservice: standard\n\n" . declaration($order));
    status 502 unless $answer->is_success;
    return { order => $order, label => $answer->decoded_content };
};

Shipments->to_app;

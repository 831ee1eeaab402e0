package Shop::Controller::Root;
use Moose;
use LWP::UserAgent;
use Template;
BEGIN { extends 'Catalyst::Controller' }
__PACKAGE__->config(namespace => '');

my $ua   = LWP::UserAgent->new(keep_alive => 4);
my $tt   = Template->new;
my $page = "<h1>Order [% id %]</h1><ul>[% FOREACH l IN lines %]<li>[% l.item %]: [% l.stock %]</li>[% END %]</ul>\n";

sub health : Local { my ($self, $c) = @_; $c->res->body("ok\n") }

sub show_lines {
    my ($c, $id, @items) = @_;
    my @lines;
    for my $item (@items) {
        my $res = $ua->get("$ENV{STOCK_URL}/stock/$item");
        push @lines, { item => $item, stock => $res->decoded_content };
    }
    $tt->process(\$page, { id => $id, lines => \@lines }, \my $out);
    $c->res->content_type('text/html');
    $c->res->body($out);
}

# a customer's order is one thing
sub order : Local Args(1) { my ($self, $c, $id) = @_; show_lines($c, $id, $id % 997) }

# a firm's order has a dozen lines
sub firm : Local Args(1) { my ($self, $c, $id) = @_; show_lines($c, $id, map { ($id * 31 + $_) % 997 } 1 .. 12) }

__PACKAGE__->meta->make_immutable;
1;

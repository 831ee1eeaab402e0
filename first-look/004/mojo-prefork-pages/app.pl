#!/usr/bin/perl
# A listing of offers; most places have some dozens of offers, some have twice as many.
use Mojolicious::Lite -signatures;

app->log->level('warn');
my @offers = map { { id => $_, title => "Offer <$_>", text => 'A bright flat with a view of the river & the old town. ' x 2, rent => 400 + $_ * 13 % 900 } } 1 .. 400;

get '/health' => { text => 'ok' };
get '/places/:place' => sub ($c) {
    my $place = $c->param('place');
    my $n = $place % 12 ? 30 : 65;
    my $from = $place * 7 % 250;
    $c->render(template => 'list', offers => [@offers[$from .. $from + $n - 1]]);
};
app->start;

__DATA__
@@ list.html.ep
<!doctype html><html><body><ul>
% for my $o (@$offers) {
<li id="o<%= $o->{id} %>"><b><%= $o->{title} %></b> <%= $o->{text} %> <i><%= $o->{rent} %> EUR</i>
<a href="/offers/<%= $o->{id} %>">details</a>
</li>
% }
</ul></body></html>

use Mojolicious::Lite -signatures;
my @entries = map +{ id => $_, title => "entry $_", words => [map { chr(97 + $_ % 26) x 5 } 1 .. 30] }, 1 .. 120;
get '/feed/:user' => sub ($c) {
  my $n = length $c->param('user');
  my @top = sort { $b->{score} <=> $a->{score} }
    map { my $e = $_; my $s = 0; $s += ord($_) * $n for @{ $e->{words} }; +{ %$e, score => $s % 97 } } @entries;
  $c->render(json => { user => $c->param('user'), entries => [map +{ id => $_->{id}, title => $_->{title} }, @top[0 .. 19]] });
};
get '/ping' => sub ($c) { $c->render(text => 'ok') };
app->log->level('error');
app->start;

#!/usr/bin/perl
# The carrier: gives a label number for an order.
use Mojolicious::Lite -signatures;

post '/labels' => sub ($c) { $c->render(text => 'L' . length($c->req->body)) };
app->log->level('warn');
app->start;

package Notices::Resource::Publication;
# POST /publications/:id makes the notice's page and lays it into the document store.
use strict;
use warnings;
use parent 'Web::Machine::Resource';
use HTML::Entities qw(encode_entities);
use JSON ();
use Web::Machine::Util qw(bind_path);

sub init { my ($self, $args) = @_; $self->{$_} = $args->{$_} for qw(data store) }

sub allowed_methods { ['POST'] }
sub content_types_provided { [ { 'application/json' => 'to_json' } ] }
sub content_types_accepted { [ { 'application/json' => 'to_json' } ] }

sub resource_exists {
    my ($self) = @_;
    my $id = bind_path('/:id', $self->request->path_info);
    return $self->{notice} = $self->{data}->find($id);
}

sub page {
    my ($n) = @_;
    return join "\n", '<!doctype html>', '<html><head><meta charset="utf-8">',
        '<title>' . encode_entities($n->{title}) . '</title></head><body>',
        '<h1>' . encode_entities($n->{title}) . '</h1>',
        (map { '<p>' . encode_entities($_) . '</p>' } @{ $n->{text} }), '</body></html>', '';
}

sub process_post {
    my ($self) = @_;
    my $n = $self->{notice};
    my $page = page($n);
    $self->{store}->put("notice-$n->{id}.html", $page);
    $self->response->header('Content-Type' => 'application/json');
    $self->response->body(JSON->new->canonical->encode({ published => $n->{id}, bytes => length $page }));
    return 1;
}

sub to_json { '{}' }

1;

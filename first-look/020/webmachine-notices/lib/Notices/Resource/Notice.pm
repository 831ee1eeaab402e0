package Notices::Resource::Notice;
use strict;
use warnings;
use parent 'Web::Machine::Resource';
use JSON ();
use Web::Machine::Util qw(bind_path);

sub init { my ($self, $args) = @_; $self->{$_} = $args->{$_} for qw(data store) }

sub allowed_methods { [qw(GET HEAD)] }
sub content_types_provided { [ { 'application/json' => 'to_json' } ] }

sub resource_exists {
    my ($self) = @_;
    my $id = bind_path('/:id', $self->request->path_info);
    return $self->{notice} = $self->{data}->find($id);
}

sub to_json {
    my ($self) = @_;
    my $n = $self->{notice};
    return JSON->new->canonical->encode({
        id => $n->{id}, title => $n->{title}, dept => $n->{dept},
        paragraphs => scalar @{ $n->{text} }, abstract => substr($n->{text}[0], 0, 200) });
}

1;

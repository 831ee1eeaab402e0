package Handbook::Resource::Health;
use Moose;
extends 'Magpie::Resource';
use Magpie::Constants;

sub GET {
    my ($self, $context) = @_;
    $self->parent_handler->resource($self);
    $self->response->status(200);
    $self->response->content_type('text/plain');
    $self->data("ok\n");
    return OK;
}

1;

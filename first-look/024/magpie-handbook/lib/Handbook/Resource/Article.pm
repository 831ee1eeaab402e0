package Handbook::Resource::Article;
# GET /articles/ID: an article as HTML
use Moose;
extends 'Magpie::Resource';
use Magpie::Constants;
use Handbook::Index;

sub GET {
    my ($self, $context) = @_;
    $self->parent_handler->resource($self);
    my ($id) = $self->request->path_info =~ m{^/articles/(\d+)$};
    my $found = Handbook::Index::client()->get(index => 'handbook', id => $id, ignore => [404]);
    if (!$found || !$found->{found}) {
        $self->set_error({ status_code => 404, reason => 'No such article.' });
        return DONE;
    }
    my $article = $found->{_source};
    my @paragraphs = map { "<p>$_.</p>" } split /\. */, $article->{text};
    $self->response->status(200);
    $self->response->content_type('text/html; charset=utf-8');
    $self->data("<!doctype html><title>$article->{title}</title><h1>$article->{title}</h1><h2>$article->{chapter}</h2>"
        . join("\n", @paragraphs));
    return OK;
}

1;

package Handbook::Resource::Search;
# GET /search?q=WORDS: the ten best articles, with what matches marked
use Moose;
extends 'Magpie::Resource';
use Magpie::Constants;
use JSON::MaybeXS qw(encode_json);
use Handbook::Index;

sub GET {
    my ($self, $context) = @_;
    $self->parent_handler->resource($self);
    my $words = $self->request->param('q') // '';
    my $found = Handbook::Index::client()->search(
        index => 'handbook',
        body  => {
            size    => 10,
            query   => { match => { text => $words } },
            _source => ['title', 'chapter', 'text'],
        });
    my @terms = map { quotemeta } split ' ', lc $words;
    my $mark = @terms ? do { my $or = join '|', @terms; qr/\b($or)\b/i } : qr/(?!)/;
    my @hits;
    for my $hit (@{ $found->{hits}{hits} }) {
        my $text = $hit->{_source}{text};
        $text =~ s{$mark}{<b>$1</b>}g;
        push @hits, { id => $hit->{_id}, score => $hit->{_score}, title => $hit->{_source}{title},
            chapter => $hit->{_source}{chapter}, extract => substr($text, 0, 300) };
    }
    $self->response->status(200);
    $self->response->content_type('application/json');
    $self->data(encode_json({ total => $found->{hits}{total}{value}, hits => \@hits }));
    return OK;
}

1;

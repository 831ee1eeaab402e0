# Shop: product pages, and publishing with content moderation.
use strict;
use warnings;
use Coro;
use Coro::AnyEvent;
use AnyEvent::HTTP;
use AnyEvent::Redis;
use JSON::XS;
use Router::Simple;

$AnyEvent::HTTP::MAX_PER_HOST = 200;
my $json = JSON::XS->new->canonical;
my $moderation = "http://127.0.0.1:$ENV{MODERATION_PORT}";
my $trace = $ENV{POOL_TRACE};

# ---- the pool of connections (DB_POOL, 5 as in config/database.yml)
package Pool {
    use AnyEvent;
    sub new {
        my ($class, $size) = @_;
        my $self = bless { free => Coro::Channel->new, size => $size, in_use => 0 }, $class;
        $self->{free}->put(AnyEvent::Redis->new(
            host => '127.0.0.1', port => $ENV{DB_PORT}, on_error => sub { warn "redis: @_\n" })) for 1 .. $size;
        return $self;
    }
    sub with_connection {
        my ($self, $who, $code) = @_;
        my $begin = AnyEvent->time;
        my $connection = $self->{free}->get;
        my $waited = AnyEvent->time - $begin;
        printf STDERR "pool %s waited %.1f ms, in use %d of %d\n", $who, $waited * 1000, $self->{in_use}, $self->{size} if $trace;
        $self->{in_use}++;
        my @result = eval { $code->($connection) };
        my $error = $@;
        $self->{in_use}--;
        $self->{free}->put($connection);
        die $error if $error;
        return wantarray ? @result : $result[0];
    }
}

my $pool = Pool->new($ENV{DB_POOL} || 5);

sub product {
    my ($connection, $id) = @_;
    my %product = @{ $connection->hgetall("product:$id")->recv };
    return \%product;
}

sub ask {
    my ($strategy, $text) = @_;
    http_post("$moderation/$strategy", $json->encode({ input => $text }),
        headers => { 'content-type' => 'application/json' }, persistent => 1, timeout => 10, Coro::rouse_cb());
    my ($body, $headers) = Coro::rouse_wait();
    return $headers->{Status} == 200 ? $json->decode($body) : { flagged => 0, error => $headers->{Reason} };
}

# One strategy of content moderation, in a thread of its own. CHECKOUT=pin wraps
# the whole of it in with_connection, CHECKOUT=narrow only what reads and writes.
sub moderate {
    my ($strategy, $id) = @_;
    my $save = sub {
        my ($connection, $verdict) = @_;
        $connection->hset("moderation:$id", $strategy, $verdict->{flagged} ? 'flagged' : 'fine')->recv;
    };
    if (($ENV{CHECKOUT} || 'pin') eq 'pin') {
        $pool->with_connection($strategy, sub {
            my $connection = shift;
            my $product = product($connection, $id);
            $save->($connection, ask($strategy, $product->{description}));
        });
    } else {
        my $product = $pool->with_connection($strategy, sub { product(shift, $id) });
        my $verdict = ask($strategy, $product->{description});
        $pool->with_connection($strategy, sub { $save->(shift, $verdict) });
    }
}

sub reply {
    my ($status, $data) = @_;
    my $body = $json->encode($data);
    return [ $status, [ 'Content-Type' => 'application/json', 'Content-Length' => length $body ], [$body] ];
}

my $router = Router::Simple->new;
$router->connect('/health', { call => sub {
    $pool->with_connection('health', sub { shift->ping->recv });
    return reply(200, { ok => 1 });
} }, { method => 'GET' });

$router->connect('/products/{id:\d+}', { call => sub {
    my ($env, $id) = @_;
    my ($product, $reviews, $related) = $pool->with_connection('product', sub {
        my $connection = shift;
        my $product = product($connection, $id);
        my $reviews = $connection->lrange("reviews:$id", 0, 19)->recv;
        my $related = $connection->zrevrange("related:$id", 0, 5)->recv;
        return ($product, $reviews, $related);
    });
    return reply(404, { error => 'no such product' }) unless %$product;
    my @reviews = map { $json->decode($_) } @$reviews;
    my $stars = 0;
    $stars += $_->{stars} for @reviews;
    return reply(200, { %$product, reviews => \@reviews, related => $related, stars => @reviews ? $stars / @reviews : undef });
} }, { method => 'GET' });

$router->connect('/products/{id:\d+}/publish', { call => sub {
    my ($env, $id) = @_;
    for my $strategy (qw(text image)) {
        async { eval { moderate($strategy, $id); 1 } or warn "moderation of $id: $@" };
    }
    return reply(202, { id => $id, state => 'in moderation' });
} }, { method => 'POST' });

sub {
    my $env = shift;
    my $match = $router->match($env) or return reply(404, { error => 'not found' });
    return $match->{call}->($env, $match->{id});
};

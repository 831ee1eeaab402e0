package Notices::Store;
# Client of the document store: PUT over kept-alive connections.
use strict;
use warnings;
use LWP::UserAgent;
use LWP::Protocol::http;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes ();

sub new {
    my ($class, %arg) = @_;
    # socket options of the client's connections (IO::Socket::IP)
    @LWP::Protocol::http::EXTRA_SOCK_OPTS = (Sockopts => [[IPPROTO_TCP, TCP_NODELAY, 1]])
        if $ENV{STORE_NODELAY};
    return bless { base => "http://127.0.0.1:$arg{port}/pages" }, $class;
}

# one agent for each worker process, made after the fork
sub ua {
    my ($self) = @_;
    if (!$self->{ua} || $self->{pid} != $$) {
        $self->{ua} = LWP::UserAgent->new(agent => 'notices/2.3', keep_alive => 2, timeout => 10);
        $self->{pid} = $$;
    }
    return $self->{ua};
}

sub put {
    my ($self, $name, $page) = @_;
    my $t0 = Time::HiRes::time();
    my $res = $self->ua->put("$self->{base}/$name", 'Content-Type' => 'text/html', Content => $page);
    if ($ENV{TIMING_LOG}) {
        open my $fh, '>>', $ENV{TIMING_LOG} or die $!;
        syswrite $fh, sprintf "%.4f %d %.1f\n", $t0, length $page, (Time::HiRes::time() - $t0) * 1000;
    }
    die 'store: ' . $res->status_line . "\n" unless $res->is_success;
    return $res->code;
}

1;

# Building permits of a town: Dancer2 on Starman; every decision leaves an audit trail in syslog.
package Permits;
use strict;
use warnings;
use Dancer2 appname => 'Permits';
use JSON::MaybeXS ();
use Sys::Syslog qw(:standard :extended :macros);
use Time::HiRes qw(time);

# The log relay of this host takes the place of /dev/log.
chdir $ENV{LOG_DIR} or die "$ENV{LOG_DIR}: $!";

my %ZONES   = ( A => 'old town', B => 'housing', C => 'trade', D => 'green belt' );
my @PERMITS = map { { id => $_, plot => 4000 + 7 * $_, zone => (qw(A B C D))[ $_ % 4 ], state => 'open' } } 0 .. 299;
my @CHECKS  = qw(zoning fire neighbours water heritage parking energy);

set logger  => 'console';
set log     => 'error';
set charset => 'UTF-8';

my $json = JSON::MaybeXS->new( utf8 => 1, canonical => 1 );
my $opened;
my $timing;

sub audit {
    my (@lines) = @_;
    if ( !$opened ) {    # once per worker, after the fork
        setlogsock( { type => 'unix', path => 'log.sock' } );
        openlog( 'permits', 'ndelay,pid,nofatal', LOG_LOCAL3 );
        if ( $ENV{TIMING_LOG} ) {
            open $timing, '>>', $ENV{TIMING_LOG} or die $!;
            $timing->autoflush(1);
        }
        $opened = 1;
    }
    my $begun = time;
    syslog( LOG_INFO, '%s', $_ ) for @lines;
    printf {$timing} "%.3f audit_ms=%.1f\n", $begun, ( time - $begun ) * 1000 if $timing;
    return;
}

sub answer {
    my ($value) = @_;
    response_header 'Content-Type' => 'application/json';
    return $json->encode($value);
}

get '/health' => sub { answer( { ok => 1 } ) };

get '/zones' => sub { answer( \%ZONES ) };

get '/permits/:id' => sub {
    my $permit = $PERMITS[ route_parameters->get('id') ] or send_error( 'no such permit', 404 );
    return answer($permit);
};

post '/permits/:id/decision' => sub {
    my $permit = $PERMITS[ route_parameters->get('id') ] or send_error( 'no such permit', 404 );
    my $decision = eval { $json->decode( request->body ) } or send_error( 'bad JSON', 400 );
    my @trail = map {
        my $ok = ( length($_) + $permit->{plot} ) % 5 ? 'passed' : 'remarks';
        "permit=$permit->{id} clerk=$decision->{clerk} check=$_ result=$ok"
    } @CHECKS;
    audit( @trail, "permit=$permit->{id} clerk=$decision->{clerk} decided" );
    return answer( { permit => $permit->{id}, state => 'decided', checks => scalar @CHECKS } );
};

to_app;

# Postage prices: HTML::Mason on Starman; the carrier's tariff is shared by all
# workers in a Cache::FastMmap file. Loaded once in the master (--preload-app).
use strict;
use warnings;
use Cache::FastMmap;
use DBI;
use HTML::Mason::PSGIHandler;
use HTTP::Tiny;
use JSON::PP;
use Time::HiRes;

package HTML::Mason::Commands;
our ($cache, $db, $pid);
use Time::HiRes;
sub goods {
    if (!$db || $pid != $$) {
        $db = DBI->connect("dbi:SQLite:dbname=$ENV{GOODS_DB}", "", "", { RaiseError => 1, AutoInactiveDestroy => 1 });
        $pid = $$;
    }
    return $db->selectrow_hashref("select id, name, grams from goods where id = ?", undef, @_);
}
sub tariff {
    return $cache->get("tariff") unless $ENV{CACHE_LOG};    # the log is for evidence only
    my $t = Time::HiRes::time();
    my $v = $cache->get("tariff");
    open my $log, '>>', $ENV{CACHE_LOG};
    printf $log "%.1f\n", (Time::HiRes::time() - $t) * 1000;
    return $v;
}
package main;

my $http = HTTP::Tiny->new(timeout => 5);
my $json = JSON::PP->new;
sub fetch_tariff {
    my $answer = $http->get("http://127.0.0.1:$ENV{CARRIER_PORT}/tariff");
    die "carrier: $answer->{status}" unless $answer->{success};
    return $json->decode($answer->{content});
}

my $tariffs = $HTML::Mason::Commands::cache = Cache::FastMmap->new(
    share_file     => $ENV{SHARE_FILE},
    init_file      => 1,
    unlink_on_exit => 0,
    cache_size     => '256k',
    expire_time    => 0,
);
$tariffs->set(tariff => fetch_tariff());

# One child keeps the tariff fresh.
my $master = $$;
my $child = fork // die "fork: $!";
if (!$child) {
    $0 = "tariff updater";
    while (getppid() == $master) {
        Time::HiRes::sleep(0.55);
        if (($ENV{REFRESH} // 'atomic') eq 'atomic') {
            # read, ask and write as one step
            $tariffs->get_and_set(tariff => sub { my ($key, $old) = @_; return fetch_tariff() // $old });
        } else {
            $tariffs->set(tariff => fetch_tariff());
        }
    }
    require POSIX;
    POSIX::_exit(0);
}

my $mason = HTML::Mason::PSGIHandler->new(
    comp_root => $ENV{COMP_ROOT},
    data_dir  => $ENV{MASON_DATA},
    static_source => 1,
);
(sub { $mason->handle_psgi($_[0]) });

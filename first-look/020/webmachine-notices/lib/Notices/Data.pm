package Notices::Data;
# The notices of the register, as the register's export has them.
use strict;
use warnings;

my @WORDS = qw(council notice of the planning office public road closure between street bridge works
  hearing residents may inspect plans at town hall until objection written form building permit area
  number parcel land register change use traffic order market square night noise exemption event water
  main renewal school district election committee session agenda budget tender award contract);

sub new {
    my ($class) = @_;
    my $self = bless { byid => {} }, $class;
    for my $id (1 .. 240) {
        my $x = $id * 7919 % 65521;
        my $next = sub { $x = ($x * 17364 + 1) % 65521; return $x };
        # most notices are a page; every eighth comes with its whole text of the plan
        my $paras = $id % 8 == 5 ? 28 + $next->() % 9 : 5 + $next->() % 9;
        my @text;
        for (1 .. $paras) {
            push @text, join ' ', map { $WORDS[ $next->() % @WORDS ] } 1 .. 42 + $next->() % 12;
        }
        $self->{byid}{$id} = { id => $id, title => "Notice $id/2024", dept => $next->() % 12, text => \@text };
    }
    return $self;
}

sub find { $_[0]{byid}{ $_[1] } }

1;

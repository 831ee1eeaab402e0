use strict;
use warnings;
use JSON::PP ();
srand 5;
my @w = qw(harbour old quiet market river stone bridge hill garden station square church walls lake forest);
my @towns = map {
    my $i = $_;
    { name => "Town $i", about => join(' ', map { $w[rand @w] } 1 .. 25) . '.',
      parts => [map { [ucfirst($w[rand @w]) . " $_", int rand 9000] } 1 .. 4] }
} 1 .. 80;
open my $fh, '>', $ARGV[0] or die $!;
print $fh JSON::PP->new->encode(\@towns);
close $fh;

#!/usr/bin/perl
# Payroll on AnyEvent::HTTPD. argv: port; env ROWS: people of the monthly workbook
use strict; use warnings;
use AnyEvent; use AnyEvent::HTTPD; use Excel::Writer::XLSX;

my $rows = $ENV{ROWS} || 300;
my @people = map { { name => "Person $_", grade => 1 + $_ % 12, hours => 120 + $_ * 7 % 60 } } 0 .. 4999;

sub pay { my $p = shift; sprintf "%.2f", $p->{hours} * (14 + 1.8 * $p->{grade}) }

sub workbook {
  my $month = shift;
  open my $fh, '>', \my $file or die $!;
  my $book = Excel::Writer::XLSX->new($fh);
  my $sheet = $book->add_worksheet("Month $month");
  $sheet->write_row(0, 0, [qw(Name Grade Hours Pay)]);
  for my $n (1 .. $rows) {
    my $p = $people[($month * 97 + $n) % @people];
    $sheet->write_row($n, 0, [$p->{name}, $p->{grade}, $p->{hours}, pay($p)]);
  }
  $book->close;
  return $file;
}

my $httpd = AnyEvent::HTTPD->new(host => '127.0.0.1', port => $ARGV[0], request_timeout => 60);
$httpd->reg_cb(
  '/health' => sub { $_[1]->respond({ content => ['text/plain', 'ok'] }) },
  '/person' => sub {
    my ($n) = $_[1]->url->path =~ m{(\d+)$};
    my $p = $people[$n % @people];
    $_[1]->respond({ content => ['application/json', sprintf '{"name":"%s","hours":%d,"pay":%s}', $p->{name}, $p->{hours}, pay($p)] });
    $_[0]->stop_request;
  },
  '/team' => sub {
    my ($n) = $_[1]->url->path =~ m{(\d+)$};
    my @list = map { my $p = $people[($n * 60 + $_) % @people]; sprintf '{"name":"%s","pay":%s}', $p->{name}, pay($p) } 1 .. 60;
    $_[1]->respond({ content => ['application/json', '[' . join(',', @list) . ']'] });
    $_[0]->stop_request;
  },
  '/workbook' => sub {
    my ($n) = $_[1]->url->path =~ m{(\d+)$};
    $_[1]->respond({ content => ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', workbook($n % 12 + 1)] });
    $_[0]->stop_request;
  },
);
$httpd->run;

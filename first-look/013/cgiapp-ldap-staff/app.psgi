package Staff;
# staff pages: CGI::Application on Starlet, looked up in OpenLDAP with Net::LDAP
use strict;
use warnings;
use parent "CGI::Application";
use Net::LDAP;
use JSON::PP;

my $ldap;

sub directory {
    $ldap ||= Net::LDAP->new("127.0.0.1", port => $ENV{LDAP_PORT}, timeout => 5) or die "directory: $@";
    return $ldap;
}

sub setup {
    my ($self) = @_;
    $self->start_mode("health");
    $self->mode_param(path_info => 1);
    $self->run_modes(health => "health", person => "person", phone => "phone");
}

sub number { my ($n) = $_[0]->query->path_info =~ m{/(\d+)$}; return $n // 0 }

sub found {
    my ($self, $filter) = @_;
    my $search = directory()->search(base => "dc=works", scope => "sub", filter => $filter, sizelimit => 20,
        attrs => ["cn", "mail", "telephoneNumber", "departmentNumber"]);
    $self->header_add(-type => "application/json");
    return encode_json([map { my $e = $_; +{ map { $_ => $e->get_value($_) } $e->attributes } } $search->entries]);
}

sub health { "ok" }
sub person { my ($self) = @_; $self->found("(uid=u" . $self->number % 60000 . ")") }
sub phone { my ($self) = @_; $self->found("(telephoneNumber=+49 30 " . (100000 + $self->number * 7 % 60000) . ")") }

package main;
use CGI::PSGI;

sub {
    my ($env) = @_;
    my $app = Staff->new(QUERY => CGI::PSGI->new($env));
    $app->{__IS_PSGI} = 1;
    return $app->run_as_psgi;
};

#!/usr/bin/perl
# writes the staff of the works as LDIF: COUNT
use strict; use warnings;
print "dn: dc=works\nobjectClass: dcObject\nobjectClass: organization\no: works\ndc: works\n\n";
for my $n (0 .. $ARGV[0] - 1) {
    my $dept = $n % 400;
    print "dn: uid=u$n,dc=works\nobjectClass: inetOrgPerson\nuid: u$n\ncn: Person $n\nsn: Person\n",
        "mail: person.$n\@works.example\ntelephoneNumber: +49 30 ", 100000 + $n, "\ndepartmentNumber: $dept\n",
        "title: worker in department $dept\nl: hall ", $n % 30, "\n\n";
}

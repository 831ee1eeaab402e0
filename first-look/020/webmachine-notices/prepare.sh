#!/bin/sh
# the modules are Debian's: libweb-machine-perl starman libwww-perl libjson-perl, and nginx
exec perl -MWeb::Machine -MStarman -MLWP::UserAgent -MJSON -MHTML::Entities -e 'print "ok\n"'

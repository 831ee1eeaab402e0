#!/bin/sh
# prepare.sh CACHE CASE: nothing to build; the modules are Debian's (apt-get install starman libmagpie-perl
# libsearch-elasticsearch-perl libjson-maybexs-perl, bookworm)
set -eu
perl -I "$2/lib" -MMagpie -MSearch::Elasticsearch -MHandbook::Index -MHandbook::Resource::Search -MStarman \
    -e 'print "Magpie $Magpie::VERSION, Search::Elasticsearch $Search::Elasticsearch::VERSION, Starman $Starman::VERSION\n"' > "$1/versions"

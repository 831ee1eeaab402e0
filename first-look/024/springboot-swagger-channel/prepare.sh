#!/bin/sh
# prepare.sh CACHE CASE: executable jars of the channel system, with Tomcat 8.5.31 (as Spring Boot 2.0.2 has it) and 8.5.40
set -eu
cache=$1
case=$2
for tomcat in 8.5.31 8.5.40; do
    if [ ! -e "$cache/channel-tomcat-$tomcat.jar" ]; then
        rm -rf "$cache/build"
        mkdir -p "$cache/build"
        cp -r "$case/pom.xml" "$case/src" "$cache/build/"
        nice -n 10 mvn -q -B -ntp -f "$cache/build/pom.xml" -Dtomcat.version="$tomcat" -DskipTests package
        mv "$cache/build/target/channel-tomcat-$tomcat.jar" "$cache/"
        rm -rf "$cache/build"
    fi
done

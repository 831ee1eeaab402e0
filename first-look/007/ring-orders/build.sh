#!/bin/sh
# jars of the Debian packages, and the server compiled ahead of time
set -e
here=$1; cache=$2
mkdir -p "$cache/lib" "$cache/classes"
cd /usr/share/java
for j in clojure spec.alpha core.specs.alpha core.async core.memoize core.cache data.priority-map tools.analyzer tools.analyzer.jvm tools.reader tools.macro \
  ring-core ring-codec ring-servlet ring-jetty-adapter compojure clout instaparse medley hiccup crypto-random crypto-equality clj-time joda-time commons-io commons-codec commons-fileupload asm \
  servlet-api jetty9-server jetty9-http jetty9-io jetty9-util jetty9-servlet jetty9-security postgresql; do
  cp -L $j.jar "$cache/lib/" 2>/dev/null || echo "no $j" >&2
done
cd "$here"
exec java -Dclojure.compile.path="$cache/classes" -cp "$here:$cache/classes:$cache/lib/*" clojure.lang.Compile server

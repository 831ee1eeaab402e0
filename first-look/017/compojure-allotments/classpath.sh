#!/bin/sh
# Prints the class path: jars of Debian's packages only.
for name in clojure spec.alpha core.specs.alpha core.async tools.analyzer tools.analyzer.jvm tools.reader \
    data.priority-map core.memoize core.cache tools.macro compojure clout instaparse medley ring-core ring-codec ring-servlet \
    ring-jetty-adapter crypto-random crypto-equality commons-io commons-fileupload commons-codec commons-logging \
    clj-http clj-time joda-time httpclient httpcore httpmime httpasyncclient httpcore-nio potemkin clj-tuple riddley slingshot \
    cheshire tigris jackson-core jackson-databind jackson-annotations jackson-dataformat-smile jackson-dataformat-cbor \
    servlet-api servlet-api-3.1 javax.servlet-api asm \
    jetty9-server jetty9-http jetty9-io jetty9-util jetty9-servlet jetty9-security; do
  [ -f "/usr/share/java/$name.jar" ] && printf '%s:' "/usr/share/java/$name.jar"
done

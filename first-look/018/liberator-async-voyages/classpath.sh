cp=
for j in /usr/share/java/clojure.jar /usr/share/java/spec.alpha.jar /usr/share/java/core.specs.alpha.jar \
  /usr/share/java/core.async.jar /usr/share/java/core.cache.jar /usr/share/java/core.memoize.jar /usr/share/java/data.priority-map.jar \
  /usr/share/java/tools.*.jar /usr/share/java/liberator.jar /usr/share/java/bidi.jar /usr/share/java/hiccup.jar \
  /usr/share/java/data.*.jar /usr/share/java/ring-*.jar /usr/share/java/prismatic-schema.jar /usr/share/java/clj-*.jar \
  /usr/share/java/cheshire.jar /usr/share/java/tigris.jar /usr/share/java/jackson-core.jar /usr/share/java/jackson-dataformat-*.jar \
  /usr/share/java/potemkin.jar /usr/share/java/riddley.jar /usr/share/java/slingshot.jar \
  /usr/share/java/crypto-*.jar /usr/share/java/commons-codec.jar /usr/share/java/commons-io.jar /usr/share/java/commons-fileupload.jar \
  /usr/share/java/commons-logging.jar /usr/share/java/httpclient.jar /usr/share/java/httpcore.jar /usr/share/java/httpmime.jar \
  /usr/share/java/servlet-api.jar /usr/share/java/jetty9-server.jar /usr/share/java/jetty9-http.jar /usr/share/java/jetty9-io.jar \
  /usr/share/java/jetty9-util.jar /usr/share/java/joda-time.jar /usr/share/java/asm.jar; do
  [ -e "$j" ] && cp="$cp:$j"
done
cp=${cp#:}

#!/bin/sh
# usage: start.sh CACHE TMP
export DB_URL="jdbc:postgresql://127.0.0.1:$DB_PORT/deliveries?ApplicationName=deliveries&prepareThreshold=$PREPARE_THRESHOLD"
cat >"$2/preboot" <<E
set configs.config.server-config.network-config.network-listeners.network-listener.http-listener.address=127.0.0.1
set configs.config.server-config.network-config.protocols.protocol.http-listener.http.max-connections=-1
set configs.config.server-config.hazelcast-config-specific-configuration.enabled=false
E
exec java -Xms300m -Xmx300m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
  --add-opens=java.base/jdk.internal.loader=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED \
  --add-opens=java.base/java.net=ALL-UNNAMED --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED \
  --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.management/sun.management=ALL-UNNAMED \
  --add-opens=java.base/sun.net.www.protocol.jrt=ALL-UNNAMED --add-opens=java.naming/javax.naming.spi=ALL-UNNAMED \
  --add-opens=java.logging/java.util.logging=ALL-UNNAMED --add-exports=java.base/jdk.internal.ref=ALL-UNNAMED \
  -Djava.io.tmpdir="$2" -jar "$1/build/payara-micro.jar" --rootdir "$2/root" --nocluster --disablephonehome --port "$PORT" --prebootcommandfile "$2/preboot" \
  --deploy "$1/build/deliveries.war" --contextroot /

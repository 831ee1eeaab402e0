import feign.*;
import feign.codec.ErrorDecoder;
import org.apache.hc.core5.http.*;
import org.apache.hc.core5.http.impl.bootstrap.*;
import org.apache.hc.core5.http.io.SocketConfig;
import org.apache.hc.core5.http.io.entity.StringEntity;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;

public class Main {
    interface Carrier {
        @RequestLine("GET /tariff/{zone}")
        String tariff(@Param("zone") String zone);
    }

    static String offer(String zone, String tariff) {
        double base = Double.parseDouble(tariff.trim());
        StringBuilder b = new StringBuilder("zone " + zone + "\n");
        int parcels = Integer.parseInt(System.getenv().getOrDefault("PARCELS", "400"));
        for (int i = 1; i <= parcels; i++) {
            double v = base * Math.pow(i, 0.7) + Math.sqrt(i);
            b.append(String.format("%d kg: %.2f EUR%n", i, v));
        }
        return b.toString();
    }

    public static void main(String[] a) throws Exception {
        ErrorDecoder dec = new ErrorDecoder.Default();
        Carrier carrier = Feign.builder()
            .errorDecoder((key, r) -> r.status() == 503
                ? new RetryableException(503, "carrier busy", r.request().httpMethod(), (Long) null, r.request())
                : dec.decode(key, r))
            .retryer(new Retryer.Default())
            .target(Carrier.class, "http://127.0.0.1:" + System.getenv("CARRIER_PORT"));
        HttpServer s = ServerBootstrap.bootstrap()
            .setCanonicalHostName("127.0.0.1")
            .setLocalAddress(InetAddress.getLoopbackAddress())
            .setListenerPort(Integer.parseInt(a[0]))
            .setSocketConfig(SocketConfig.custom().setTcpNoDelay(true).setSoReuseAddress(true).setSoTimeout(60, TimeUnit.SECONDS).build())
            .register("/health", (q, r, c) -> r.setEntity(new StringEntity("ok")))
            .register("/offer/*", (q, r, c) -> {
                String zone = q.getPath().substring("/offer/".length());
                r.setEntity(new StringEntity(offer(zone, carrier.tariff(zone)), ContentType.TEXT_PLAIN));
            })
            .create();
        s.start();
        s.awaitTermination(org.apache.hc.core5.util.TimeValue.MAX_VALUE);
    }
}

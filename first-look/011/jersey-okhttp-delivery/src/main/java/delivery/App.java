package delivery;

import com.google.common.cache.CacheBuilder;
import com.google.common.cache.CacheLoader;
import com.google.common.cache.LoadingCache;
import com.sun.net.httpserver.HttpServer;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.Executors;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import org.glassfish.jersey.jdkhttp.JdkHttpServerFactory;
import org.glassfish.jersey.server.ResourceConfig;

@Path("/")
public class App {
    static final String CARRIER = "http://127.0.0.1:" + System.getenv("CARRIER_PORT");
    static final OkHttpClient http = new OkHttpClient.Builder()
        .readTimeout(Duration.ofMillis(setting("CARRIER_READ_TIMEOUT_MS", 10000))).build();
    static final LoadingCache<String, String[]> tariffs = CacheBuilder.newBuilder()
        .expireAfterWrite(Duration.ofMillis(setting("TARIFF_TTL_MS", 600000)))
        .build(CacheLoader.from(table -> {
            try {
                return ask("/tariffs/" + table).split("\n");
            } catch (IOException e) {
                throw new RuntimeException(e);
            }
        }));

    static long setting(String name, long otherwise) {
        String v = System.getenv(name);
        return v == null ? otherwise : Long.parseLong(v);
    }

    static String ask(String path) throws IOException {
        try (var answer = http.newCall(new Request.Builder().url(CARRIER + path).build()).execute()) {
            return answer.body().string();
        }
    }

    @GET @Path("health") @Produces("text/plain")
    public String health() { return "ok"; }

    @GET @Path("parcel/{id}") @Produces("application/json")
    public String parcel(@PathParam("id") long id) throws IOException {
        String eta, from = "carrier";
        try {
            eta = ask("/eta/" + id);
        } catch (InterruptedIOException e) {   // the carrier does not answer: our own estimate
            eta = String.valueOf(24 + id % 48);
            from = "estimate";
        }
        return "{\"parcel\":" + id + ",\"hours\":" + eta + ",\"from\":\"" + from + "\"}";
    }

    @GET @Path("price/{zone}/{grams}") @Produces("application/json")
    public String price(@PathParam("zone") int zone, @PathParam("grams") int grams) {
        String[] rows = tariffs.getUnchecked("parcels");
        double perKilo = Double.parseDouble(rows[zone % rows.length]);
        return "{\"zone\":" + zone + ",\"price\":" + Math.round(100 * (3 + perKilo * grams / 1000)) / 100.0 + "}";
    }

    public static void main(String[] args) {
        URI uri = URI.create("http://127.0.0.1:" + args[0] + "/");
        HttpServer server = JdkHttpServerFactory.createHttpServer(uri, new ResourceConfig(App.class), false);
        server.setExecutor(Executors.newFixedThreadPool(32));
        server.start();
    }
}

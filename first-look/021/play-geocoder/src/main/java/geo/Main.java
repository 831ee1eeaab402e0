package geo;

import static play.mvc.Results.notFound;
import static play.mvc.Results.ok;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import play.ApplicationLoader;
import play.BuiltInComponents;
import play.Environment;
import play.Mode;
import play.core.server.PekkoHttpServer;
import play.core.server.ServerConfig;
import play.libs.Json;
import play.mvc.Http;
import play.mvc.Result;
import play.routing.Router;
import play.routing.RoutingDsl;
import play.routing.RoutingDslComponentsFromContext;
import scala.Option;

/** Postcode geocoder for partners. Calls are metered per partner. */
public final class Main {
    record Place(int code, String city, double lat, double lon) {}

    static final List<String> PARTNERS = List.of(
        "acme-freight", "bluebird", "citymaps", "dash-delivery", "ecotour", "fleetline", "grocerly", "homeport");
    static volatile boolean warm;

    static ObjectNode json(Place p) {
        ObjectNode o = Json.newObject();
        o.put("code", p.code()).put("city", p.city()).put("lat", p.lat()).put("lon", p.lon());
        return o;
    }

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(System.getenv("PORT"));
        URI billing = URI.create("http://127.0.0.1:" + System.getenv("BILLING_PORT") + "/v1/usage");
        long every = Long.parseLong(System.getenv().getOrDefault("BOOK_EVERY_MS", "220"));
        boolean inPlace = !"snapshot".equals(System.getenv("BOOKING"));

        List<Place> places = new ArrayList<>();
        Random r = new Random(7);
        for (int i = 0; i < 5000; i++)
            places.add(new Place(10000 + i, "City " + (i % 211), 47 + r.nextDouble() * 7, 6 + r.nextDouble() * 9));

        Usage usage = new Usage(billing, PARTNERS, every, inPlace);
        AtomicInteger threadNo = new AtomicInteger();
        ExecutorService work = Executors.newFixedThreadPool(40, run -> {
            Thread t = new Thread(run, "geocode-" + threadNo.incrementAndGet());
            t.setDaemon(true);
            return t;
        });

        class Geocoder extends RoutingDslComponentsFromContext {
            Geocoder(ApplicationLoader.Context context) { super(context); }

            @Override
            public List<play.mvc.EssentialFilter> httpFilters() { return List.of(); }

            @Override
            public Router router() { return routes(this, places, usage, work); }
        }
        Environment env = new Environment(Mode.PROD);
        PekkoHttpServer.fromApplication(
            new Geocoder(ApplicationLoader.create(env)).application().asScala(),
            ServerConfig.apply(Main.class.getClassLoader(), env.rootPath(), Option.apply(port), Option.empty(), "127.0.0.1",
                env.mode().asScala(), System.getProperties()));

        warmUp(port);
        warm = true;
        System.err.println("geocoder on " + port);
        Thread.currentThread().join();
    }

    private static Router routes(BuiltInComponents components, List<Place> places, Usage usage, ExecutorService work) {
        return RoutingDsl.fromComponents(components)
            .GET("/ready").routingTo(q -> warm ? ok("ready") : new Result(503))
            .GET("/geocode/:partner/:code").routingAsync((Http.Request q, Object partner, Object code) ->
                CompletableFuture.supplyAsync(() -> geocode(places, usage, partner.toString(), Integer.parseInt(code.toString())), work))
            .GET("/cities/:n").routingAsync((q, n) -> CompletableFuture.supplyAsync(() -> {
                ArrayNode a = Json.newArray();
                int city = Integer.parseInt(n.toString());
                for (int i = city; i < places.size(); i += 211) a.add(json(places.get(i)));
                return ok(a);
            }, work))
            .POST("/corrections/:code").routingAsync((q, code) -> CompletableFuture.supplyAsync(() -> {
                JsonNode body = q.body().asJson();
                if (body == null) return new Result(400);
                return ok(Json.newObject().put("code", code.toString()).put("ticket", body.path("n").asLong()));
            }, work))
            .build();
    }

    /** Runs each route before the balancer sees the server as ready. */
    private static void warmUp(int port) throws Exception {
        try (Socket s = new Socket("127.0.0.1", port)) {
            s.setTcpNoDelay(true);
            byte[] buf = new byte[65536];
            for (int i = 0; i < 4000; i++) {
                String q = switch (i % 4) {
                    case 0 -> "GET /cities/" + i % 211 + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
                    case 1 -> "POST /corrections/10007 HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\n"
                        + "content-length: 8\r\n\r\n{\"n\": 1}";
                    default -> "GET /geocode/" + (i % 97 == 0 ? "homeport" : "nobody") + "/10007 HTTP/1.1\r\nHost: localhost\r\n\r\n";
                };
                s.getOutputStream().write(q.getBytes(StandardCharsets.US_ASCII));
                StringBuilder got = new StringBuilder();
                int end = -1;
                while (end < 0 || got.length() < end) {
                    int n = s.getInputStream().read(buf);
                    if (n < 0) return;
                    got.append(new String(buf, 0, n, StandardCharsets.ISO_8859_1));
                    int head = got.indexOf("\r\n\r\n");
                    if (end < 0 && head >= 0) {
                        int at = got.indexOf("Content-Length: ") + 16;
                        end = head + 4 + Integer.parseInt(got.substring(at, got.indexOf("\r", at)).trim());
                    }
                }
            }
        }
    }

    private static Result geocode(List<Place> places, Usage usage, String partner, int code) {
        if (!PARTNERS.contains(partner)) return notFound("no such partner");
        Place p = places.get(Math.floorMod(code - 10000, places.size()));
        long open = usage.count(partner);
        return ok(json(p)).withHeader("X-Unbilled-Calls", Long.toString(open));
    }
}

import akka.actor.ActorSystem;
import akka.http.javadsl.ConnectHttp;
import akka.http.javadsl.Http;
import akka.http.javadsl.marshallers.jackson.Jackson;
import akka.http.javadsl.model.HttpRequest;
import akka.http.javadsl.model.StatusCodes;
import akka.http.javadsl.server.AllDirectives;
import akka.http.javadsl.server.Route;
import akka.http.javadsl.server.PathMatchers;
import akka.stream.ActorMaterializer;
import akka.stream.Materializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** A marketplace: what a merchant has in stock is asked of the merchant's own server when an offer is looked at. */
public class Shop extends AllDirectives {
    private final ObjectMapper mapper = new ObjectMapper();
    private final Http http;
    private final Materializer materializer;
    private final int merchantPort;
    private final List<Map<String, Object>> categories = new ArrayList<>();

    Shop(ActorSystem system, Materializer materializer, int merchantPort) {
        this.http = (Http) system.registerExtension(Http.lookup());
        this.materializer = materializer;
        this.merchantPort = merchantPort;
        for (int i = 0; i < 24; i++) {
            Map<String, Object> category = new LinkedHashMap<>();
            category.put("id", i);
            category.put("name", "Category " + i);
            category.put("merchants", 12 + i % 5);
            categories.add(category);
        }
    }

    CompletionStage<Map<String, Object>> offer(int merchant) {
        String uri = "http://127.0.1." + merchant + ":" + merchantPort + "/stock";
        return http.singleRequest(HttpRequest.create(uri))
            .thenCompose(response -> response.entity().toStrict(3000, materializer))
            .thenApply(entity -> {
                try {
                    JsonNode stock = mapper.readTree(entity.getData().utf8String());
                    Map<String, Object> answer = new LinkedHashMap<>();
                    answer.put("merchant", merchant);
                    answer.put("items", stock.get("items").size());
                    answer.put("cheapest", cheapest(stock));
                    return answer;
                } catch (Exception e) {
                    throw new RuntimeException(e);
                }
            });
    }

    private static String cheapest(JsonNode stock) {
        JsonNode best = null;
        for (JsonNode item : stock.get("items")) {
            if (item.get("left").asInt() > 0 && (best == null || item.get("price").asInt() < best.get("price").asInt())) {
                best = item;
            }
        }
        return best == null ? null : best.get("sku").asText();
    }

    Route route() {
        return route(
            path(PathMatchers.segment("offers").slash(PathMatchers.integerSegment()), merchant ->
                get(() -> merchant < 1 || merchant > 250
                    ? complete(StatusCodes.NOT_FOUND)
                    : completeOKWithFuture(offer(merchant), Jackson.marshaller()))),
            path("categories", () -> get(() -> completeOK(categories, Jackson.marshaller()))));
    }

    public static void main(String[] arguments) throws Exception {
        Config config = ConfigFactory.load();
        ActorSystem system = ActorSystem.create("shop", config);
        Materializer materializer = ActorMaterializer.create(system);
        Shop shop = new Shop(system, materializer, Integer.parseInt(arguments[1]));
        ((Http) system.registerExtension(Http.lookup())).bindAndHandle(shop.route().flow(system, materializer),
            ConnectHttp.toHost("127.0.0.1", Integer.parseInt(arguments[0])), materializer).toCompletableFuture().get();
    }
}

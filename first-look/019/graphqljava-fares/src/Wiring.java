import com.fasterxml.jackson.databind.JsonNode;
import graphql.GraphQL;
import graphql.schema.AsyncDataFetcher;
import graphql.schema.DataFetcher;
import graphql.schema.GraphQLSchema;
import graphql.schema.idl.RuntimeWiring;
import graphql.schema.idl.SchemaGenerator;
import graphql.schema.idl.SchemaParser;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.io.FileWriter;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

final class Wiring {
    static PrintWriter timing;

    static GraphQL build(RedisAsyncCommands<String, String> redis, String partner, boolean asyncPartner)
            throws Exception {
        if (System.getenv("TIMING_LOG") != null) {
            timing = new PrintWriter(new FileWriter(System.getenv("TIMING_LOG")), true);
        }
        DataFetcher<CompletableFuture<Map<String, String>>> fare = env -> {
            long start = System.nanoTime();
            String id = env.getArgument("id");
            return redis.hgetall("fare:" + id).toCompletableFuture().thenCompose(stored -> {
                if (stored.isEmpty()) {
                    return CompletableFuture.completedFuture(null);
                }
                return redis.get("season:" + stored.get("fromStation")).thenApply(season -> {
                    Map<String, String> valid = new HashMap<>(stored);
                    valid.put("validity", stored.get("validity") + ", " + season);
                    log("redis", start);
                    return valid;
                });
            });
        };

        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        DataFetcher<Map<String, Object>> quote = env -> {
            Map<String, String> source = env.getSource();
            long start = System.nanoTime();
            HttpRequest request = HttpRequest.newBuilder(URI.create(partner + "/quotes/" + source.get("id"))).build();
            HttpResponse<byte[]> response = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
            JsonNode quoted = Main.JSON.readTree(response.body());
            log("partner", start);
            return Map.of("carrier", quoted.get("carrier").asText(), "amount", quoted.get("amount").asText(),
                    "quotedAt", quoted.get("quotedAt").asText());
        };
        DataFetcher<?> partnerQuote = quote;
        if (asyncPartner) {
            ExecutorService pool = Executors.newFixedThreadPool(16);
            partnerQuote = AsyncDataFetcher.async(quote, pool);
        }

        List<Map<String, Object>> routes = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            routes.add(Map.of("id", i, "name", "IR " + (2100 + i),
                    "stops", List.of(Seed.STATIONS[i % 8], Seed.STATIONS[(i + 3) % 8], Seed.STATIONS[(i + 5) % 8])));
        }
        DataFetcher<Map<String, Object>> route = env -> routes.get(Integer.parseInt(env.getArgument("id")) % 40);

        DataFetcher<?> quoteFetcher = partnerQuote;
        RuntimeWiring wiring = RuntimeWiring.newRuntimeWiring()
                .type("Query", t -> t.dataFetcher("fare", fare).dataFetcher("route", route))
                .type("Fare", t -> t.dataFetcher("partnerQuote", quoteFetcher))
                .build();
        GraphQLSchema schema = new SchemaGenerator().makeExecutableSchema(new SchemaParser().parse(
                new InputStreamReader(Wiring.class.getResourceAsStream("/fares.graphqls"), StandardCharsets.UTF_8)),
                wiring);
        return GraphQL.newGraphQL(schema).build();
    }

    private static void log(String what, long start) {
        if (timing != null) {
            timing.printf("%d %s %.1f %s%n", System.currentTimeMillis(), what,
                    (System.nanoTime() - start) / 1e6, Thread.currentThread().getName());
        }
    }

    private Wiring() {
    }
}

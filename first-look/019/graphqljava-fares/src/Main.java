import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import graphql.ExecutionInput;
import graphql.GraphQL;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Fares of a railway over GraphQL: graphql-java on Jetty, fares in Redis (Lettuce), quotes of a partner. */
public class Main {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(System.getenv("PORT"));
        int redisPort = Integer.parseInt(System.getenv("REDIS_PORT"));
        String partner = "http://127.0.0.1:" + System.getenv("PARTNER_PORT");
        boolean asyncPartner = "async".equals(System.getenv("PARTNER_FETCHER"));

        RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", redisPort));
        RedisAsyncCommands<String, String> redis = client.connect().async();
        Seed.fares(redis);

        GraphQL graphql = Wiring.build(redis, partner, asyncPartner);
        warmUp(graphql);

        Server server = new Server(new QueuedThreadPool(20, 6));
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        ServerConnector connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
        connector.setHost("127.0.0.1");
        connector.setPort(port);
        server.addConnector(connector);
        server.setHandler(new Endpoint(graphql));
        server.setStopAtShutdown(true);
        server.start();
        server.join();
    }

    static void warmUp(GraphQL graphql) {
        for (int i = 0; i < 4000; i++) {
            execute(graphql, "FareCard", Map.of("id", String.valueOf(i % 400))).join();
            execute(graphql, "RouteCard", Map.of("id", String.valueOf(i % 40))).join();
        }
    }

    static java.util.concurrent.CompletableFuture<byte[]> execute(GraphQL graphql, String queryId,
                                                                   Map<String, Object> variables) {
        ExecutionInput input = ExecutionInput.newExecutionInput(Documents.BY_ID.get(queryId))
                .operationName(queryId).variables(variables).build();
        return graphql.executeAsync(input).thenApply(result -> {
            try {
                return JSON.writeValueAsBytes(result.toSpecification());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    static final class Endpoint extends Handler.Abstract {
        private final GraphQL graphql;

        Endpoint(GraphQL graphql) {
            this.graphql = graphql;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            String path = Request.getPathInContext(request);
            if (path.equals("/health")) {
                Content.Sink.write(response, true, "ok", callback);
                return true;
            }
            if (!path.equals("/graphql")) {
                return false;
            }
            Content.Source.asStringAsync(request, StandardCharsets.UTF_8).whenComplete((text, failure) -> {
                if (failure != null) {
                    Response.writeError(request, response, callback, failure);
                    return;
                }
                try {
                    JsonNode body = JSON.readTree(text);
                    String queryId = body.path("queryId").asText();
                    if (!Documents.BY_ID.containsKey(queryId)) {
                        Response.writeError(request, response, callback, 400, "unknown document");
                        return;
                    }
                    Map<String, Object> variables = new HashMap<>();
                    body.path("variables").fields()
                            .forEachRemaining(e -> variables.put(e.getKey(), e.getValue().asText()));
                    execute(graphql, queryId, variables).whenComplete((bytes, error) -> {
                        if (error != null) {
                            Response.writeError(request, response, callback, error);
                            return;
                        }
                        response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
                        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, bytes.length);
                        response.write(true, ByteBuffer.wrap(bytes), callback);
                    });
                } catch (Exception e) {
                    Response.writeError(request, response, callback, e);
                }
            });
            return true;
        }
    }
}

import io.github.resilience4j.bulkhead.*;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.*;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.eclipse.jetty.server.*;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

public class Main extends Handler.Abstract {
    final HttpClient client = HttpClient.newHttpClient();
    final String weather = System.getenv("WEATHER");
    final Bulkhead bulkhead;

    Main(int calls) {
        bulkhead = Bulkhead.of("weather", BulkheadConfig.custom()
            .maxConcurrentCalls(calls)
            .maxWaitDuration(Duration.ofSeconds(5))
            .build());
    }

    String ask(String path) throws Exception {
        return bulkhead.executeCallable(() -> client.send(
            HttpRequest.newBuilder(URI.create(weather + path)).build(),
            HttpResponse.BodyHandlers.ofString()).body());
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        String path = request.getHttpURI().getPath();
        String body = switch (path) {
            case "/" -> "ok";
            case "/stats" -> "free " + bulkhead.getMetrics().getAvailableConcurrentCalls();
            default -> ask(path);
        };
        response.write(true, ByteBuffer.wrap((body + "\n").getBytes(StandardCharsets.UTF_8)), callback);
        return true;
    }

    public static void main(String[] args) throws Exception {
        Server server = new Server(new QueuedThreadPool(80, 80));
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        connector.setPort(Integer.parseInt(args[0]));
        server.addConnector(connector);
        server.setHandler(new Main(Integer.parseInt(args[1])));
        server.start();
        server.join();
    }
}

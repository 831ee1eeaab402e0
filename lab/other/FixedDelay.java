import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/** A handler that sleeps for a constant time before it answers. */
public final class FixedDelay {
    public static void main(String[] arguments) throws Exception {
        int port = 0;
        double delayMs = 13;
        boolean healthy = false;
        for (int i = 0; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "--port" -> port = Integer.parseInt(arguments[++i]);
                case "--delay-ms" -> delayMs = Double.parseDouble(arguments[++i]);
                case "--healthy" -> healthy = true;
                default -> throw new IllegalArgumentException("no option " + arguments[i]);
            }
        }
        // Without it this server has delayed-ack as well: it writes header and body apart.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        long delayNs = healthy ? 0 : (long) (delayMs * 1e6);
        byte[] body = "hello\n".getBytes(StandardCharsets.US_ASCII);
        InetAddress loopback = InetAddress.getByName("127.0.0.1");
        HttpServer server = HttpServer.create(new InetSocketAddress(loopback, port), 1024);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", exchange -> {
            if (delayNs > 0 && !exchange.getRequestURI().getPath().equals("/health")) {
                try {
                    Thread.sleep(delayNs / 1_000_000, (int) (delayNs % 1_000_000));
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        String cause = healthy ? "none" : "fixed-delay";
        System.out.printf(
            "{\"listening\":\"127.0.0.1:%d\",\"cause\":\"%s\",\"healthy\":%b}%n",
            server.getAddress().getPort(), cause, healthy);
    }

    private FixedDelay() {}
}

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** The JDK's own server with a report that waits: Server PORT THREADS WAIT_MS (0 threads: the default). */
class Server {
    public static void main(String[] args) throws IOException {
        int threads = Integer.parseInt(args[1]);
        long waitMs = Long.parseLong(args[2]);
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
        HttpServer server = HttpServer.create(address, 1024);
        if (threads > 0) {
            server.setExecutor(Executors.newFixedThreadPool(threads));
        }
        server.createContext("/", exchange -> answer(exchange, 0));
        server.createContext("/report", exchange -> answer(exchange, waitMs));
        server.start();
    }

    private static void answer(HttpExchange exchange, long waitMs) throws IOException {
        try {
            Thread.sleep(waitMs);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        byte[] body = "ok\n".getBytes();
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }
}

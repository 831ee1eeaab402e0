// A server that has a lead in its profile.
//
//   java Hot.java PORT MODE
//
// The mode is "hot" (one function computes) or "lock" (requests sleep in one monitor).
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

public class Hot {
    static final class Store {
        private long adds;

        synchronized void add() throws InterruptedException {
            adds++;
            Thread.sleep(3);
        }
    }

    static long scramble(int rounds) {
        long sum = 1;
        for (int i = 0; i < rounds; i++) {
            sum = (sum * 31 + i) ^ (sum >>> 7);
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        boolean locks = args[1].equals("lock");
        Store store = new Store();
        var port = new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0]));
        HttpServer server = HttpServer.create(port, 0);
        server.createContext("/", exchange -> {
            long sum = 0;
            try {
                if (locks) {
                    store.add();
                } else {
                    sum = scramble(2_000_000);
                }
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
            byte[] body = Long.toString(sum).getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.start();
    }
}

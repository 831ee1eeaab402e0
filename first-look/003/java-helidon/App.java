import io.helidon.webserver.WebServer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/** A shop: Helidon 4 serves every request on a virtual thread of its own. */
public class App {
    static final int QUOTE_MS = Integer.parseInt(System.getenv().getOrDefault("QUOTE_MS", "300"));

    /** A quote of one customer, old style: its methods are synchronized. Nobody else uses the same object. */
    static class Quote {
        private final ReentrantLock lock = new ReentrantLock();

        synchronized String price() throws InterruptedException {
            return ask();
        }

        String priceNew() throws InterruptedException {
            lock.lock();
            try {
                return ask();
            } finally {
                lock.unlock();
            }
        }

        /** Stands for the tariff service of the insurer. */
        private String ask() throws InterruptedException {
            Thread.sleep(QUOTE_MS);
            return "quote 17.40\n";
        }
    }

    public static void main(String[] args) {
        boolean modern = "1".equals(System.getenv("QUOTE_LOCK"));
        Map<String, String> items = new ConcurrentHashMap<>();
        for (int i = 0; i < 1000; i++) items.put("" + i, "item " + i + "\n");
        WebServer.builder().port(Integer.parseInt(args[0])).host("127.0.0.1")
            .routing(r -> r
                .get("/item", (req, res) -> {
                    Thread.sleep(3);
                    res.send(items.getOrDefault(req.query().first("id").orElse("0"), "none\n"));
                })
                .get("/quote", (req, res) -> res.send(modern ? new Quote().priceNew() : new Quote().price())))
            .build().start();
    }
}

package shop;

import freemarker.template.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import org.microhttp.*;

/** A catalogue of products kept in memory: product pages, and price changes that keep their history. */
public class Catalog {
    record Price(long at, int cents, String source) {}
    record Product(int id, String name, List<String> tags, ArrayDeque<Price> prices) {}

    static final Map<Integer, Product> products = new ConcurrentHashMap<>();
    static Template page;

    static String product(int id) throws Exception {
        Product p = products.get(id);
        List<Map<String, Object>> prices = new ArrayList<>();
        synchronized (p) {
            for (Price x : p.prices()) prices.add(Map.of("at", x.at(), "cents", x.cents(), "source", x.source()));
        }
        StringWriter out = new StringWriter();
        page.process(Map.of("id", p.id(), "name", p.name(), "tags", p.tags(), "prices", prices), out);
        return out.toString();
    }

    /** Takes a list of new prices for a whole department. */
    static String reprice(int from) {
        int changed = 0;
        for (int i = from; i < from + 4000; i++) {
            Product p = products.get(i % products.size());
            synchronized (p) {
                p.prices().removeFirst();
                p.prices().addLast(new Price(System.nanoTime(), 100 + i % 900, "list " + from + " line " + i));
            }
            changed++;
        }
        return changed + "\n";
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[1]), history = Integer.parseInt(args[2]);
        for (int i = 0; i < n; i++) {
            ArrayDeque<Price> prices = new ArrayDeque<>(history + 1);
            for (int k = 0; k < history; k++) prices.add(new Price(k, 100 + k, "import " + k + " of " + i));
            products.put(i, new Product(i, "Product " + i, List.of("tag" + i % 7, "tag" + i % 11), prices));
        }
        Configuration c = new Configuration(Configuration.VERSION_2_3_33);
        c.setClassForTemplateLoading(Catalog.class, "/");
        page = c.getTemplate("product.ftlh");
        ExecutorService pool = Executors.newFixedThreadPool(16);
        Handler handler = (req, callback) -> pool.execute(() -> {
            int status = 200;
            String body;
            try {
                String[] path = req.uri().split("/");
                body = path.length < 3 ? "ok\n" : path[1].equals("product") ? product(Integer.parseInt(path[2])) : reprice(Integer.parseInt(path[2]));
            } catch (Exception e) {
                status = 500;
                body = e.toString();
            }
            callback.accept(new Response(status, status == 200 ? "OK" : "Error",
                List.of(new Header("Content-Type", "text/html; charset=utf-8")), body.getBytes(StandardCharsets.UTF_8)));
        });
        Options o = Options.builder().withHost("127.0.0.1").withPort(Integer.parseInt(args[0])).withConcurrency(1).build();
        EventLoop loop = new EventLoop(o, NoopLogger.instance(), handler);
        loop.start();
        loop.join();
    }
}

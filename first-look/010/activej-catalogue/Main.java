import io.activej.eventloop.Eventloop;
import io.activej.http.*;
import io.activej.promise.Promise;
import java.util.*;
import java.util.concurrent.*;

public class Main {
    record Article(int id, String name, String[] tags, Map<String, String> attributes) {}
    static final int SIZE = Integer.parseInt(System.getenv().getOrDefault("ARTICLES", "60000"));
    static final int LINES = Integer.parseInt(System.getenv().getOrDefault("LINES", "40"));
    static volatile Map<Integer, Article> catalogue;

    static Map<Integer, Article> build() {
        Map<Integer, Article> m = new HashMap<>();
        for (int i = 0; i < SIZE; i++) {
            Map<String, String> at = new HashMap<>();
            at.put("colour", "c" + i % 17);
            at.put("size", "s" + i % 9);
            at.put("ean", "40" + i);
            m.put(i, new Article(i, "article number " + i, new String[]{"t" + i % 5, "u" + i % 7}, at));
        }
        return m;
    }

    static String page(int from) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < LINES; i++) {
            Article x = catalogue.get((from * 31 + i * 7) % SIZE);
            b.append(String.format("%06d %s %s %s%n", x.id(), x.name(), String.join(",", x.tags()), x.attributes()));
        }
        return b.toString();
    }

    public static void main(String[] a) throws Exception {
        catalogue = build();
        Eventloop loop = Eventloop.create().withCurrentThread();
        ExecutorService imports = Executors.newSingleThreadExecutor(r -> new Thread(r, "import"));
        RoutingServlet servlet = RoutingServlet.create()
            .map(HttpMethod.GET, "/health", r -> HttpResponse.ok200().withPlainText("ok"))
            .map(HttpMethod.GET, "/list/:from", r ->
                HttpResponse.ok200().withPlainText(page(Integer.parseInt(r.getPathParameter("from")))))
            .map(HttpMethod.POST, "/import", r -> Promise.ofBlocking(imports, () -> {
                    int rows = 0;
                    for (String line : "id;name;colour\n17;lamp;red\n18;desk;oak\n".split("\n")) rows += line.split(";").length;
                    System.gc();   // give the memory of the import back
                    return rows;
                }).map(n -> HttpResponse.ok200().withPlainText("imported " + n)));
        AsyncHttpServer.create(loop, servlet).withListenPort(Integer.parseInt(a[0])).listen();
        loop.run();
    }
}

import com.fasterxml.jackson.databind.ObjectMapper;
import io.muserver.*;
import java.net.URI;
import java.net.http.*;
import java.util.*;

/** Stock of a shop on mu-server. Reservations are confirmed by the warehouse. */
public class Stock {
    record Article(int id, String name, int cents, int[] words) {}

    static class Inventory {
        private final Map<Integer, Integer> left = new HashMap<>();
        private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        private final String warehouse = System.getenv("WAREHOUSE");

        Inventory() { for (int i = 0; i < 1000; i++) left.put(i, 1_000_000); }

        synchronized int level(int id) { return left.get(id); }

        synchronized int reserve(int id) throws Exception {
            int now = left.get(id);
            if (now == 0) return 0;
            HttpResponse<String> r = http.send(HttpRequest.newBuilder(URI.create(warehouse + "/reserve/" + id)).build(), HttpResponse.BodyHandlers.ofString());
            if (r.statusCode() == 200) left.put(id, now - 1);
            return now - 1;
        }
    }

    public static void main(String[] a) throws Exception {
        Inventory inventory = new Inventory();
        ObjectMapper json = new ObjectMapper();
        Random random = new Random(7);
        List<Article> articles = new ArrayList<>();
        for (int i = 0; i < 4000; i++)
            articles.add(new Article(i, "Article " + i, random.nextInt(100_000), random.ints(16, 0, 500).sorted().toArray()));

        MuServerBuilder.httpServer().withInterface("127.0.0.1").withHttpPort(Integer.parseInt(a[0])).withGzipEnabled(false)
            .addHandler(Method.GET, "/healthz", (q, s, p) -> s.write("ok"))
            .addHandler(Method.GET, "/stock/{id}", (q, s, p) -> {
                int id = Integer.parseInt(p.get("id"));
                s.contentType("application/json");
                s.write("{\"id\":" + id + ",\"left\":" + inventory.level(id) + "}");
            })
            .addHandler(Method.POST, "/reserve/{id}", (q, s, p) -> {
                s.contentType("application/json");
                s.write("{\"left\":" + inventory.reserve(Integer.parseInt(p.get("id"))) + "}");
            })
            .addHandler(Method.GET, "/similar/{id}", (q, s, p) -> {
                Article me = articles.get(Integer.parseInt(p.get("id")));
                Map<Integer, Integer> score = new HashMap<>();
                for (Article other : articles) {
                    int same = 0;
                    for (int i = 0, j = 0; i < 16 && j < 16; ) {
                        int d = me.words[i] - other.words[j];
                        if (d == 0) { same++; i++; j++; } else if (d < 0) i++; else j++;
                    }
                    score.put(other.id, same * 1000 - Math.abs(me.cents - other.cents) / 100);
                }
                List<Article> best = new ArrayList<>(articles);
                best.sort(Comparator.comparingInt(x -> -score.get(x.id)));
                s.contentType("application/json");
                s.write(json.writeValueAsString(best.subList(0, 25)));
            })
            .start();
    }
}

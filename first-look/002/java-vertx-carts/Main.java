import io.vertx.core.*;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import java.util.*;

public class Main extends AbstractVerticle {
    static final int KEEP = Integer.parseInt(System.getenv("KEEP"));

    final Map<Integer, List<Map<String, Object>>> carts = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, List<Map<String, Object>>> e) {
            return size() > KEEP;
        }
    };
    int next = 0;

    int add(int lines) {
        List<Map<String, Object>> cart = new ArrayList<>();
        for (int i = 0; i < lines; i++) {
            Map<String, Object> line = new HashMap<>();
            line.put("article", "article " + (next * 31 + i) % 5000);
            line.put("count", 1000 + i);
            line.put("price", i * 1.19);
            cart.add(line);
        }
        carts.put(next, cart);
        return next++;
    }

    @Override
    public void start() {
        for (int i = 0; i < KEEP; i++) add(200);
        Router router = Router.router(vertx);
        router.get("/").handler(c -> c.end("ok"));
        router.post("/cart").handler(c -> c.end("cart " + add(200) + "\n"));
        router.get("/cart/:n").handler(c -> {
            List<Map<String, Object>> cart = carts.get(next - 1 - Integer.parseInt(c.pathParam("n")));
            if (cart == null) {
                c.fail(404);
                return;
            }
            c.json(new JsonObject().put("lines", new JsonArray(cart.subList(0, 5))));
        });
        vertx.createHttpServer().requestHandler(router).listen(Integer.parseInt(System.getenv("PORT")), "127.0.0.1");
    }

    public static void main(String[] args) {
        Vertx.vertx().deployVerticle(new Main());
    }
}

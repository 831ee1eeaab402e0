package shop;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.Deflater;
import org.smartboot.http.server.HttpBootstrap;
import org.smartboot.http.server.HttpRequest;
import org.smartboot.http.server.HttpResponse;
import org.smartboot.http.server.HttpServerHandler;

/** Products in memory; price sheets of suppliers are packed from and into buffers outside the heap. */
public class Sheets {
    record Product(int id, String name, List<String> tags, Map<String, Long> prices) {}

    static final int ROWS = 4 << 20, PACKED = 1 << 20;
    static final Map<Integer, Product> products = new HashMap<>();
    static boolean keep;
    static final ThreadLocal<ByteBuffer[]> kept = ThreadLocal.withInitial(Sheets::buffers);

    static ByteBuffer[] buffers() {
        return new ByteBuffer[] {ByteBuffer.allocateDirect(ROWS), ByteBuffer.allocateDirect(PACKED)};
    }

    static byte[] sheet(int supplier) {
        ByteBuffer[] use = keep ? kept.get() : buffers();
        ByteBuffer rows = use[0].clear(), packed = use[1].clear();
        for (int i = 0; i < 2500; i++) {
            Product p = products.get((supplier * 613 + i) % products.size());
            rows.put((p.id + ";" + p.name + ";" + p.prices.get("retail") + "\n").getBytes(StandardCharsets.UTF_8));
        }
        rows.flip();
        Deflater deflater = new Deflater(1);
        deflater.setInput(rows);
        deflater.finish();
        while (!deflater.finished()) deflater.deflate(packed);
        deflater.end();
        byte[] body = new byte[packed.flip().remaining()];
        packed.get(body);
        return body;
    }

    static byte[] page(int id) {
        Product p = products.get(id % products.size());
        return ("{\"id\":" + p.id + ",\"name\":\"" + p.name + "\",\"tags\":\"" + String.join(" ", p.tags)
            + "\",\"retail\":" + p.prices.get("retail") + "}").getBytes(StandardCharsets.UTF_8);
    }

    public static void main(String[] args) {
        keep = "keep".equals(System.getenv("BUFFERS"));
        int count = Integer.parseInt(System.getenv().getOrDefault("PRODUCTS", "150000"));
        for (int i = 0; i < count; i++) {
            List<String> tags = new ArrayList<>();
            for (int t = 0; t < 4; t++) tags.add("tag-" + (i * 7 + t * 13) % 5000);
            Map<String, Long> prices = new HashMap<>();
            prices.put("retail", 1000L + i % 90000);
            prices.put("trade", 800L + i % 70000);
            products.put(i, new Product(i, "product number " + i, tags, prices));
        }
        ExecutorService workers = Executors.newFixedThreadPool(8);
        HttpBootstrap server = new HttpBootstrap();
        server.configuration().host("127.0.0.1").bannerEnabled(false);
        server.httpHandler(new HttpServerHandler() {
            @Override public void handle(HttpRequest request, HttpResponse response, CompletableFuture<Object> done) {
                workers.execute(() -> {
                    try {
                        String path = request.getRequestURI();
                        int n = path.lastIndexOf('/') > 0 ? Integer.parseInt(path.substring(path.lastIndexOf('/') + 1)) : 0;
                        byte[] body = path.startsWith("/sheet/") ? sheet(n) : page(n);
                        response.setContentType(path.startsWith("/sheet/") ? "application/zlib" : "application/json");
                        response.setContentLength(body.length);
                        response.write(body);
                    } catch (IOException | RuntimeException e) {
                        e.printStackTrace();
                    } finally {
                        done.complete(null);
                    }
                });
            }
        });
        server.setPort(Integer.parseInt(args[0])).start();
    }
}

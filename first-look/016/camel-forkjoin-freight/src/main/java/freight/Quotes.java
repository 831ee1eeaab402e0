package freight;

import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/** Freight prices: our own tariff, and the free space that partner depots report. */
public class Quotes {
    static final List<String> DEPOTS = List.of("ams", "bcn", "cph", "dub", "gva", "ham", "lis", "mil", "osl", "prg", "vie", "waw");

    private final String base;

    public Quotes(String port) {
        base = "http://127.0.0.1:" + port;
    }

    private String get(String path) {
        try {
            HttpURLConnection c = (HttpURLConnection) URI.create(base + path).toURL().openConnection();
            c.setConnectTimeout(2000);
            c.setReadTimeout(5000);
            try (InputStream in = c.getInputStream()) {
                return new String(in.readAllBytes(), StandardCharsets.UTF_8);
            }
        } catch (Exception e) {
            throw new IllegalStateException(path, e);
        }
    }

    /** The price and the customs note are made side by side. */
    public Map<String, Object> quote(String to, int kg) {
        long t0 = System.nanoTime();
        CompletableFuture<Integer> price = CompletableFuture.supplyAsync(() -> {
            if (Main.TIMING) {
                double ms = (System.nanoTime() - t0) / 1e6;
                if (ms > 10) System.out.printf("price started after %.1f ms on %s%n", ms, Thread.currentThread().getName());
            }
            return price(to, kg);
        });
        CompletableFuture<String> note = CompletableFuture.supplyAsync(() -> note(to));
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("to", to);
        out.put("kg", kg);
        out.put("cents", price.join());
        out.put("customs", note.join());
        return out;
    }

    private int price(String to, int kg) {
        int zone = Math.abs(to.hashCode()) % 7;
        int cents = 1900;
        for (int i = 1; i <= kg; i++) cents += 35 + zone * 4 - Math.min(i / 10, 9);
        return cents;
    }

    private String note(String to) {
        return Set.of("gva", "osl").contains(to) ? "T1 document needed" : "none";
    }

    /** The dispatcher's board: free space in all depots. */
    public Map<String, Object> board() {
        long t0 = System.nanoTime();
        Map<String, Object> out = new TreeMap<>(DEPOTS.parallelStream()
            .collect(Collectors.toMap(d -> d, d -> get("/space/" + d).trim())));
        if (Main.TIMING) System.out.printf("board took %.1f ms%n", (System.nanoTime() - t0) / 1e6);
        return out;
    }

    public Map<String, Object> tariff(String to) {
        Map<String, Object> out = new LinkedHashMap<>();
        for (int kg : new int[] {5, 10, 20, 50, 100, 200}) out.put(kg + " kg", price(to, kg));
        return out;
    }
}

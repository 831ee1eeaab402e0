package geo;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Counts the calls of each partner and books them with the billing provider, a partner at a time. */
final class Usage {
    static final boolean TRACE = System.getenv("GEO_TRACE") != null;

    private final ConcurrentHashMap<String, Long> calls = new ConcurrentHashMap<>();
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(r -> {
        Thread t = new Thread(r, "usage-booking");
        t.setDaemon(true);
        return t;
    });
    private final URI billing;
    private final List<String> partners;
    private final boolean bookInPlace;
    private int next;

    Usage(URI billing, List<String> partners, long everyMillis, boolean bookInPlace) {
        this.billing = billing;
        this.partners = partners;
        this.bookInPlace = bookInPlace;
        partners.forEach(p -> calls.put(p, 0L));
        timer.scheduleAtFixedRate(this::bookNext, 500, everyMillis, TimeUnit.MILLISECONDS);
    }

    /** One more call of this partner; answers how many are not booked yet. */
    long count(String partner) {
        long t0 = System.nanoTime();
        long n = calls.merge(partner, 1L, Long::sum);
        if (TRACE) {
            long us = (System.nanoTime() - t0) / 1000;
            if (us > 3000) System.err.println("TRACE count " + partner + " " + us + " us");
        }
        return n;
    }

    private void bookNext() {
        String partner = partners.get(next++ % partners.size());
        long t0 = System.nanoTime();
        try {
            if (bookInPlace) {
                calls.compute(partner, (p, n) -> {
                    if (n == null || n == 0) return 0L;
                    return send(p, n) ? 0L : n;
                });
            } else {
                long n = calls.getOrDefault(partner, 0L);
                if (n > 0 && send(partner, n)) calls.merge(partner, -n, Long::sum);
            }
        } catch (RuntimeException e) {
            System.err.println("booking of " + partner + ": " + e);
        }
        if (TRACE) System.err.println("TRACE book " + partner + " " + (System.nanoTime() - t0) / 1000 + " us");
    }

    private boolean send(String partner, long n) {
        try {
            HttpRequest request = HttpRequest.newBuilder(billing).timeout(Duration.ofSeconds(5))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"partner\":\"" + partner + "\",\"calls\":" + n + "}"))
                .build();
            return http.send(request, HttpResponse.BodyHandlers.ofString()).statusCode() == 200;
        } catch (java.io.IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}

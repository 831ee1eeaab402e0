import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;

/**
 * A server with a pool of threads, and one thread in the background.
 *
 * <pre>java Pool.java PORT MODE HOLD_MS PERIOD_MS</pre>
 *
 * The mode is "lock" (the thread sleeps under the monitor that every request enters), "beside"
 * (it sleeps without), "collect" (it asks for a collection of garbage with much that lives), or
 * "pool" (two threads serve, and each request sleeps HOLD_MS).
 */
public final class Pool {
    private static final byte[] ANSWER = "ok\n".getBytes();
    private static final Object LOCK = new Object();
    /** What a collection has to look at. */
    private static final List<Object[]> LIVE = new ArrayList<>();
    private static final int LIVE_OBJECTS = 400_000;

    private static long served;

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void flushUnderLock(long ms) {
        synchronized (LOCK) {
            sleep(ms);
        }
    }

    private static void flush(String mode, long holdMs, long periodMs) {
        while (!Thread.currentThread().isInterrupted()) {
            sleep(periodMs);
            switch (mode) {
                case "lock" -> flushUnderLock(holdMs);
                case "collect" -> System.gc();
                default -> sleep(holdMs);
            }
        }
    }

    private static void count() {
        synchronized (LOCK) {
            served++;
        }
    }

    public static void main(String[] args) throws IOException {
        // Head and body are written apart: without this the second waits for an acknowledgement.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        int port = Integer.parseInt(args[0]);
        String mode = args[1];
        long holdMs = Long.parseLong(args[2]);
        long periodMs = Long.parseLong(args[3]);
        boolean isPool = mode.equals("pool");
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 1024);
        server.createContext("/", exchange -> {
            if (isPool) {
                sleep(holdMs);
            } else {
                count();
            }
            exchange.sendResponseHeaders(200, ANSWER.length);
            exchange.getResponseBody().write(ANSWER);
            exchange.close();
        });
        server.setExecutor(isPool ? Executors.newFixedThreadPool(2) : Executors.newCachedThreadPool());
        if (mode.equals("collect")) {
            for (int i = 0; i < LIVE_OBJECTS; i++) {
                LIVE.add(new Object[] {new int[8], LIVE.isEmpty() ? null : LIVE.get(i / 2)});
            }
        }
        if (!isPool) {
            Thread thread = new Thread(() -> flush(mode, holdMs, periodMs), "flusher");
            thread.setDaemon(true);
            thread.start();
        }
        server.start();
    }
}

import ch.qos.logback.classic.Logger;
import com.codahale.metrics.jvm.ThreadDump;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.util.concurrent.*;
import org.slf4j.LoggerFactory;
import static spark.Spark.*;

/** A shop on Spark Java, with Dropwizard metrics' thread dump for the support desk and logback for its journal. */
public class Shop {
    static int env(String name, int otherwise) {
        return Integer.parseInt(System.getenv().getOrDefault(name, "" + otherwise));
    }

    /** A consumer of a market feed: waits for its next message deep inside the feed's parsers. */
    static void consume(int depth, BlockingQueue<String> feed) throws InterruptedException {
        if (depth == 0) feed.take(); else consume(depth - 1, feed);
    }

    public static void main(String[] args) throws Exception {
        org.slf4j.Logger log = LoggerFactory.getLogger("shop");
        for (int i = 0; i < env("FEEDS", 0); i++) {
            BlockingQueue<String> feed = new LinkedBlockingQueue<>();
            Thread t = new Thread(null, () -> {
                try { consume(env("DEPTH", 60), feed); } catch (InterruptedException e) { }
            }, "feed-" + i, 512 * 1024);
            t.setDaemon(true);
            t.start();
        }
        if (env("DUMP_MS", 0) > 0) {
            ThreadDump dump = new ThreadDump(ManagementFactory.getThreadMXBean());
            Executors.newSingleThreadScheduledExecutor(r -> {
                Thread t = new Thread(r, "support-dump");
                t.setDaemon(true);
                return t;
            }).scheduleWithFixedDelay(() -> dump.dump(new ByteArrayOutputStream()), env("DUMP_MS", 0), env("DUMP_MS", 0), TimeUnit.MILLISECONDS);
        }
        byte[] basket = new byte[env("BASKET", 0)];
        java.util.Arrays.fill(basket, (byte) 'b');
        String text = new String(basket);
        ipAddress("127.0.0.1");
        port(Integer.parseInt(args[0]));
        threadPool(env("THREADS", 40));
        get("/health", (req, res) -> "ok");
        get("/item", (req, res) -> {
            Thread.sleep(3);
            return "item " + req.queryParams("id");
        });
        get("/order", (req, res) -> {
            Thread.sleep(3);
            log.info("order {} {}", req.queryParams("id"), text);
            return "ordered " + req.queryParams("id");
        });
    }
}

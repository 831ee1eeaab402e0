import io.javalin.Javalin;
import java.security.MessageDigest;
import java.util.Random;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

public class App {
    public static void main(String[] args) {
        byte[] document = new byte[Integer.parseInt(System.getenv().getOrDefault("DOCUMENT_KB", "256")) * 1024];
        new Random(7).nextBytes(document);
        QueuedThreadPool pool = new QueuedThreadPool(12, 12);
        Javalin.create(cfg -> cfg.jetty.server(() -> new org.eclipse.jetty.server.Server(pool)))
            .get("/health", ctx -> ctx.result("ok"))
            .get("/checksum", ctx -> {
                MessageDigest d = MessageDigest.getInstance("SHA-256");
                StringBuilder hex = new StringBuilder();
                for (byte b : d.digest(document)) hex.append(String.format("%02x", b));
                ctx.result(hex.toString());
            })
            .get("/pool", ctx -> ctx.result("threads " + pool.getThreads() + " idle " + pool.getIdleThreads() + " queue " + pool.getQueueSize()))
            .start("127.0.0.1", Integer.parseInt(args[0]));
    }
}

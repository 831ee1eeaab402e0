import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.javalin.Javalin;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.concurrent.ThreadLocalRandom;

public class App {
    public static void main(String[] args) throws Exception {
        HikariConfig cfg = new HikariConfig();
        cfg.setJdbcUrl(System.getenv("JDBC_URL"));
        cfg.setUsername("postgres");
        cfg.setMaximumPoolSize(Integer.parseInt(System.getenv().getOrDefault("POOL_SIZE", "10")));
        HikariDataSource db = new HikariDataSource(cfg);
        HttpClient http = HttpClient.newHttpClient();
        URI payments = URI.create(System.getenv("PAYMENTS_URL") + "/charge");

        Javalin.create()
            .get("/health", ctx -> ctx.result("ok"))
            .get("/order", ctx -> {
                try (Connection c = db.getConnection();
                     PreparedStatement q = c.prepareStatement("SELECT total FROM orders WHERE id = ?")) {
                    q.setInt(1, ThreadLocalRandom.current().nextInt(1, 20000));
                    try (ResultSet r = q.executeQuery()) {
                        ctx.result(r.next() ? r.getString(1) : "none");
                    }
                }
            })
            .get("/pay", ctx -> {
                int id = ThreadLocalRandom.current().nextInt(1, 20000);
                try (Connection c = db.getConnection()) {
                    c.setAutoCommit(false);
                    try (PreparedStatement q = c.prepareStatement("SELECT total FROM orders WHERE id = ? FOR UPDATE")) {
                        q.setInt(1, id);
                        q.executeQuery();
                    }
                    String receipt = http.send(HttpRequest.newBuilder(payments).build(), HttpResponse.BodyHandlers.ofString()).body();
                    try (PreparedStatement q = c.prepareStatement("UPDATE orders SET receipt = ? WHERE id = ?")) {
                        q.setString(1, receipt);
                        q.setInt(2, id);
                        q.executeUpdate();
                    }
                    c.commit();
                    ctx.result(receipt);
                }
            })
            .get("/pool", ctx -> ctx.result("active " + db.getHikariPoolMXBean().getActiveConnections()
                + " waiting " + db.getHikariPoolMXBean().getThreadsAwaitingConnection()))
            .start("127.0.0.1", Integer.parseInt(args[0]));
    }
}

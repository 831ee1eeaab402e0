import java.sql.*;
import java.time.Duration;
import org.apache.commons.dbcp2.BasicDataSource;
import static spark.Spark.*;

/** A shop on Spark Java, commons-dbcp2 and PostgreSQL. */
public class Shop {
    static int env(String name, int otherwise) {
        return Integer.parseInt(System.getenv().getOrDefault(name, "" + otherwise));
    }

    /** The payment provider: answers after a while. */
    static void charge() throws InterruptedException {
        Thread.sleep(env("CHARGE_MS", 250));
    }

    public static void main(String[] args) throws Exception {
        BasicDataSource pool = new BasicDataSource();
        pool.setUrl("jdbc:postgresql://127.0.0.1:" + args[1] + "/postgres");
        pool.setUsername("postgres");
        pool.setMaxTotal(env("POOL", 8));
        pool.setMaxIdle(env("POOL", 8));
        pool.setInitialSize(env("POOL", 8));
        pool.setMaxWait(Duration.ofSeconds(5));
        try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
            s.execute("create table if not exists item (id int primary key, stock int)");
            s.execute("insert into item select g, 1000 from generate_series(0, 999) g on conflict do nothing");
        }
        ipAddress("127.0.0.1");
        port(Integer.parseInt(args[0]));
        threadPool(60);
        get("/item", (req, res) -> {
            try (Connection c = pool.getConnection();
                 PreparedStatement p = c.prepareStatement("select stock from item where id = ?")) {
                p.setInt(1, Integer.parseInt(req.queryParams("id")));
                ResultSet r = p.executeQuery();
                return r.next() ? "stock " + r.getInt(1) : "none";
            }
        });
        get("/pay", (req, res) -> {
            try (Connection c = pool.getConnection()) {
                c.setAutoCommit(false);
                try (PreparedStatement p = c.prepareStatement("update item set stock = stock - 1 where id = ?")) {
                    p.setInt(1, Integer.parseInt(req.queryParams("id")));
                    p.executeUpdate();
                }
                charge();
                c.commit();
                return "paid";
            }
        });
    }
}

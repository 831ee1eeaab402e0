import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import org.h2.jdbcx.JdbcConnectionPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import rife.engine.Context;
import rife.engine.Server;
import rife.engine.Site;

/** Allocation desk of a wine merchant: customers look wines up and reserve cases. */
public class Wines extends Site {
    private static final Logger log = LoggerFactory.getLogger(Wines.class);
    private final JdbcConnectionPool pool = JdbcConnectionPool.create("jdbc:h2:mem:wines;DB_CLOSE_DELAY=-1", "sa", "");

    public void setup() {
        pool.setMaxConnections(40);
        try (Connection c = pool.getConnection(); var s = c.createStatement()) {
            s.execute("CREATE TABLE IF NOT EXISTS wine (id INT PRIMARY KEY, name VARCHAR(80), vintage INT, cases INT)");
            s.execute("CREATE TABLE IF NOT EXISTS reservation (id BIGINT AUTO_INCREMENT PRIMARY KEY, wine INT, cases INT)");
            // every second wine of the list is sold out
            s.execute("MERGE INTO wine SELECT x, 'Wine no. ' || x, 1990 + MOD(x, 30), CASEWHEN(MOD(x, 2) = 0, 0, 1000000) FROM SYSTEM_RANGE(1, 2000)");
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        get("/health", c -> c.print("up"));
        get("/wine", this::wine);
        post("/reserve", this::reserve);
    }

    private void wine(Context c) {
        int id = Integer.parseInt(c.parameter("id"));
        try (Connection db = pool.getConnection();
             PreparedStatement q = db.prepareStatement("SELECT name, vintage, cases FROM wine WHERE id = ?")) {
            q.setInt(1, id);
            try (ResultSet r = q.executeQuery()) {
                if (!r.next()) {
                    c.setStatus(404);
                    return;
                }
                log.info("wine {} looked up, {} cases", id, r.getInt(3));
                c.setContentType("application/json");
                c.print("{\"id\":" + id + ",\"name\":\"" + r.getString(1) + "\",\"vintage\":" + r.getInt(2) + ",\"cases\":" + r.getInt(3) + "}");
            }
        } catch (java.sql.SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void reserve(Context c) {
        int id = Integer.parseInt(c.parameter("id"));
        boolean done;
        try (Connection db = pool.getConnection()) {
            try (PreparedStatement u = db.prepareStatement("UPDATE wine SET cases = cases - 1 WHERE id = ? AND cases > 0")) {
                u.setInt(1, id);
                done = u.executeUpdate() == 1;
            }
            if (done) {
                try (PreparedStatement i = db.prepareStatement("INSERT INTO reservation (wine, cases) VALUES (?, 1)")) {
                    i.setInt(1, id);
                    i.executeUpdate();
                }
            }
        } catch (java.sql.SQLException e) {
            throw new IllegalStateException(e);
        }
        if (done) {
            log.info("one case of wine {} reserved", id);
        } else {
            log.warn("reservation of wine {} refused: no case left", id);
        }
        c.setContentType("application/json");
        c.print("{\"id\":" + id + ",\"result\":\"" + (done ? "reserved" : "waiting-list") + "\"}");
    }

    public static void main(String[] arguments) {
        new Server().host("127.0.0.1").port(Integer.parseInt(arguments[0])).start(new Wines());
    }
}

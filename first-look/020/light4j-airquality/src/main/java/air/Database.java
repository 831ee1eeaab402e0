package air;

import com.networknt.server.StartupHookProvider;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.FileWriter;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** The pool of connections, and the job that keeps the hourly figures fresh. */
public class Database implements StartupHookProvider {

    static HikariDataSource pool;
    static PrintWriter timing;

    private static final String URL = "jdbc:postgresql://127.0.0.1:" + System.getenv("DB_PORT") + "/air?ApplicationName=airquality";

    @Override
    public void onStartup() {
        try {
            if (System.getenv("TIMING_LOG") != null) {
                timing = new PrintWriter(new FileWriter(System.getenv("TIMING_LOG")), true);
            }
            HikariConfig c = new HikariConfig();
            c.setJdbcUrl(URL);
            c.setUsername("air");
            c.setMaximumPoolSize(24);
            c.setMinimumIdle(24);
            pool = new HikariDataSource(c);

            Connection jobs = DriverManager.getConnection(URL, "air", null);
            String refresh = "refresh materialized view " + System.getenv().getOrDefault("REFRESH", "") + " station_hour";
            Executors.newSingleThreadScheduledExecutor(r -> {
                Thread t = new Thread(r, "figures");
                t.setDaemon(true);
                return t;
            }).scheduleAtFixedRate(() -> {
                long t = System.currentTimeMillis();
                try (Statement s = jobs.createStatement()) {
                    s.execute(refresh);
                } catch (Exception e) {
                    e.printStackTrace();
                }
                note("refresh", t);
            }, 1000, 800, TimeUnit.MILLISECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void note(String what, long since) {
        if (timing != null) {
            timing.println(what + " " + since + " " + (System.currentTimeMillis() - since));
        }
    }
}

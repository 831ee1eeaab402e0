package votes;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jdbi.v3.core.Jdbi;
import ro.pippo.core.Application;
import ro.pippo.core.Pippo;
import ro.pippo.core.PippoSettings;
import ro.pippo.core.RuntimeMode;
import ro.pippo.gson.GsonEngine;

/** Pictures of a photo club: detail pages with sampled view counting, and lists. */
public class Main extends Application {

    /** One of this many views is counted (times this many). */
    private static final int SAMPLE = 7;

    private static final List<String> LICENCES = List.of("CC BY 4.0", "CC BY-SA 4.0", "CC0", "all rights reserved");

    private final Jdbi db;
    private final PrintWriter timing;

    Main(PippoSettings settings, Jdbi db, PrintWriter timing) {
        super(settings);
        this.db = db;
        this.timing = timing;
    }

    private Map<String, Object> picture(int id) {
        return db.withHandle(h -> h.createQuery("select id, title, author, taken, views, votes from picture where id = ?")
                .bind(0, id)
                .map((rs, c) -> {
                    Map<String, Object> m = new LinkedHashMap<>();
                    m.put("id", rs.getInt(1));
                    m.put("title", rs.getString(2));
                    m.put("author", rs.getString(3));
                    m.put("taken", rs.getString(4));
                    m.put("views", rs.getInt(5));
                    m.put("votes", rs.getInt(6));
                    return m;
                })
                .findOne().orElse(null));
    }

    private void countView(int id) {
        long t = System.nanoTime();
        db.useTransaction(h -> {
            h.execute("insert into view_sample (picture) values (?)", id);
            h.execute("update picture set views = views + ? where id = ?", SAMPLE, id);
            if (timing != null) {
                timing.printf("statements %.2f%n", (System.nanoTime() - t) / 1e6);
            }
        });
        if (timing != null) {
            timing.printf("transaction %.2f%n", (System.nanoTime() - t) / 1e6);
        }
    }

    @Override
    protected void onInit() {
        registerContentTypeEngine(GsonEngine.class);
        GET("/health", c -> c.json().send(Map.of("ok", picture(1) != null)));
        GET("/licences", c -> c.json().send(LICENCES));
        GET("/pictures/{id}", c -> {
            int id = c.getParameter("id").toInt();
            Map<String, Object> p = picture(id);
            if (p == null) {
                c.getResponse().notFound().text().send("no such picture");
                return;
            }
            if (ThreadLocalRandom.current().nextInt(SAMPLE) == 0) {
                countView(id);
            }
            c.json().send(p);
        });
        GET("/authors/{author}/pictures", c -> {
            String author = c.getParameter("author").toString();
            List<String> titles = db.withHandle(h -> h
                    .createQuery("select title from picture where author = ? and id < 400 order by id desc limit 12")
                    .bind(0, author).mapTo(String.class).list());
            c.json().send(titles);
        });
    }

    public static void main(String[] args) throws IOException {
        HikariConfig c = new HikariConfig();
        c.setJdbcUrl("jdbc:mariadb://127.0.0.1:" + System.getenv("DB_PORT") + "/pictures");
        c.setUsername("votes");
        c.setPassword("votes");
        c.setMaximumPoolSize(24);
        c.setMinimumIdle(24);
        Jdbi db = Jdbi.create(new HikariDataSource(c));

        String f = System.getenv("TIMING_LOG");
        PrintWriter timing = f == null ? null : new PrintWriter(new FileWriter(f), true);

        PippoSettings settings = new PippoSettings(RuntimeMode.PROD);
        settings.overrideSetting("server.host", "127.0.0.1");
        settings.overrideSetting("server.port", System.getenv("PORT"));
        Main app = new Main(settings, db, timing);
        Pippo pippo = new Pippo(app);
        Runtime.getRuntime().addShutdownHook(new Thread(pippo::stop));
        pippo.start();
    }
}

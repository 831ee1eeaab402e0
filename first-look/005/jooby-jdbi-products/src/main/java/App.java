import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.jooby.Jooby;
import io.jooby.ServerOptions;
import io.jooby.ExecutionMode;
import io.jooby.jackson.JacksonModule;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Jdbi;

public class App extends Jooby {
    {
        var options = new ServerOptions();
        options.setHost("127.0.0.1");
        options.setPort(Integer.parseInt(System.getenv("PORT")));
        setServerOptions(options);
        install(new JacksonModule());

        var config = new HikariConfig();
        config.setJdbcUrl(System.getenv("JDBC_URL"));
        config.setUsername("shop");
        config.setMaximumPoolSize(12);
        var jdbi = Jdbi.create(new HikariDataSource(config));

        get("/health", ctx -> "ok");

        get("/groups/{id}", ctx -> page(jdbi, ctx.path("id").intValue(), 25));

        // the whole group, for the people who make the printed catalog
        get("/groups/{id}/all", ctx -> page(jdbi, ctx.path("id").intValue(), 2000));

        for (int i = 0; i < 1000; i++) page(jdbi, i % 20, i % 50 == 0 ? 2000 : 25);
    }

    static List<Map<String, Object>> page(Jdbi jdbi, int group, int max) {
        return jdbi.withHandle(h -> h.createQuery("select id, name, price, description from products where grp = :g order by price desc, id limit :n")
            .bind("g", group).bind("n", max).mapToMap().list());
    }

    public static void main(String[] args) { runApp(args, ExecutionMode.DEFAULT, App::new); }
}

import com.mchange.v2.c3p0.ComboPooledDataSource;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.*;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

public class App {
    public static void main(String[] args) throws Exception {
        String url = "jdbc:postgresql://127.0.0.1:" + System.getenv("DB_PORT") + "/postgres?user=app";
        seed(url);
        ComboPooledDataSource pool = new ComboPooledDataSource();
        pool.setDriverClass("org.postgresql.Driver");
        pool.setJdbcUrl(url);
        pool.setInitialPoolSize(12);
        pool.setMinPoolSize(12);
        pool.setMaxPoolSize(12);

        ServletContextHandler context = new ServletContextHandler();
        context.addServlet(new ServletHolder(new HttpServlet() {
            @Override protected void doGet(HttpServletRequest req, HttpServletResponse resp) throws IOException {
                try (Connection c = pool.getConnection();
                     PreparedStatement q = c.prepareStatement("SELECT count(*), sum(cents) FROM sales WHERE region = ?")) {
                    q.setInt(1, Integer.parseInt(req.getParameter("region")));
                    ResultSet r = q.executeQuery();
                    r.next();
                    resp.setContentType("application/json");
                    resp.getWriter().write("{\"sales\":" + r.getLong(1) + ",\"cents\":" + r.getLong(2) + "}");
                } catch (SQLException e) {
                    throw new IOException(e);
                }
            }
        }), "/sales");
        Server server = new Server(Integer.parseInt(System.getenv("PORT")));
        server.setHandler(context);
        server.start();
        server.join();
    }

    static void seed(String url) throws Exception {
        for (int i = 0; ; i++) {
            try (Connection c = DriverManager.getConnection(url); Statement s = c.createStatement()) {
                s.execute("CREATE TABLE sales AS SELECT n AS id, n % 20 AS region, n * 7 % 5000 AS cents FROM generate_series(1, 60000) n");
                s.execute("VACUUM ANALYZE sales");
                return;
            } catch (SQLException e) {
                if (i > 50) throw e;
                Thread.sleep(100);
            }
        }
    }
}

import jakarta.servlet.http.*;
import java.io.IOException;
import java.net.URI;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

public class Main {
    static final HttpClient client = HttpClient.newHttpClient();
    static final String LEDGER = System.getenv("LEDGER");

    static class Order extends HttpServlet {
        protected void doGet(HttpServletRequest q, HttpServletResponse a) throws IOException {
            int id = Integer.parseInt(q.getParameter("id"));
            a.setContentType("application/json");
            a.getWriter().printf("{\"id\": %d, \"total\": %.2f}%n", id, id * 1.19);
        }
    }

    static class Invoice extends HttpServlet {
        protected void doGet(HttpServletRequest q, HttpServletResponse a) throws IOException {
            try {
                HttpRequest r = HttpRequest.newBuilder(URI.create(LEDGER + "/invoice/" + q.getParameter("id"))).build();
                String body = client.send(r, HttpResponse.BodyHandlers.ofString()).body();
                a.setContentType("application/json");
                a.getWriter().write(body);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }
    }

    static class Archive extends HttpServlet {
        protected void doGet(HttpServletRequest q, HttpServletResponse a) throws IOException {
            a.setContentType("text/csv");
            var out = a.getWriter();
            for (int id = 0; id < 20000; id++) {
                out.write("order " + id + ";" + id * 119 / 100 + ";paid\n");
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(System.getProperty("java.io.tmpdir") + "/tomcat." + args[0]);
        Connector connector = new Connector("HTTP/1.1");
        connector.setPort(Integer.parseInt(args[0]));
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("maxThreads", args[1]);
        connector.setProperty("minSpareThreads", args[1]);
        connector.setProperty("maxKeepAliveRequests", "-1");
        tomcat.setConnector(connector);
        Context app = tomcat.addContext("", null);
        Tomcat.addServlet(app, "order", new Order());
        Tomcat.addServlet(app, "invoice", new Invoice());
        Tomcat.addServlet(app, "archive", new Archive());
        app.addServletMappingDecoded("/order", "order");
        app.addServletMappingDecoded("/invoice", "invoice");
        app.addServletMappingDecoded("/archive.csv", "archive");
        tomcat.start();
        tomcat.getServer().await();
    }
}

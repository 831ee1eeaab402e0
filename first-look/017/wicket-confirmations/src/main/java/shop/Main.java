package shop;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.EnumSet;
import javax.servlet.DispatcherType;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.wicket.protocol.http.WicketFilter;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.servlet.DefaultServlet;
import org.eclipse.jetty.servlet.FilterHolder;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

public class Main {
    static volatile boolean ready;

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "8080"));
        Server server = new Server(new QueuedThreadPool(40, 8));
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        connector.setPort(port);
        server.addConnector(connector);

        ServletContextHandler context = new ServletContextHandler();
        context.setContextPath("/");
        context.addServlet(new ServletHolder(new Health()), "/health");
        context.addServlet(DefaultServlet.class, "/");
        FilterHolder wicket = new FilterHolder(WicketFilter.class);
        wicket.setInitParameter("applicationClassName", ShopApplication.class.getName());
        wicket.setInitParameter(WicketFilter.FILTER_MAPPING_PARAM, "/shop/*");
        wicket.setInitParameter("configuration", "deployment");
        context.addFilter(wicket, "/shop/*", EnumSet.of(DispatcherType.REQUEST));
        server.setHandler(context);
        server.setStopAtShutdown(true);
        server.start();
        warmUp("http://127.0.0.1:" + port);
        ready = true;
        server.join();
    }

    /** The instance takes part in the load balancing only after it has run its own pages. */
    static void warmUp(String base) throws Exception {
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        for (int i = 0; i < 400; i++) {
            // test orders of the shop: 9xxx are never business customers', 99xx always
            int order = i % 20 == 0 ? 9900 + i % 100 : 9000 + i % 100;
            HttpRequest.Builder page = HttpRequest.newBuilder(URI.create(base + "/shop/orders/" + order));
            HttpRequest.Builder mail = HttpRequest.newBuilder(URI.create(base + "/shop/confirmations/" + order))
                    .POST(HttpRequest.BodyPublishers.noBody());
            HttpRequest.Builder reminder = HttpRequest.newBuilder(URI.create(base + "/shop/reminders/" + order))
                    .POST(HttpRequest.BodyPublishers.noBody());
            http.send(page.build(), HttpResponse.BodyHandlers.ofString());
            http.send(mail.build(), HttpResponse.BodyHandlers.ofString());
            if (i % 2 == 0) {
                http.send(reminder.build(), HttpResponse.BodyHandlers.ofString());
            }
        }
    }

    static class Health extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest req, HttpServletResponse resp) {
            resp.setStatus(ready ? 200 : 503);
        }
    }
}

package orders;

import jakarta.servlet.DispatcherType;
import java.net.URI;
import java.net.http.*;
import java.util.EnumSet;
import org.apache.struts2.dispatcher.filter.StrutsPrepareAndExecuteFilter;
import org.eclipse.jetty.ee10.servlet.DefaultServlet;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

public class Main {
    static final boolean TIMING = System.getenv("ORDERS_TIMING") != null;
    static volatile boolean warm;

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(System.getenv("PORT"));
        Server server = new Server();
        ServerConnector c = new ServerConnector(server, 1, 1);
        c.setHost("127.0.0.1");
        c.setPort(port);
        server.addConnector(c);
        ServletContextHandler ctx = new ServletContextHandler("/");
        ctx.setBaseResourceAsPath(java.nio.file.Path.of("."));
        ctx.addFilter(StrutsPrepareAndExecuteFilter.class, "/*", EnumSet.of(DispatcherType.REQUEST));
        ctx.addServlet(DefaultServlet.class, "/");
        server.setHandler(ctx);
        server.setStopAtShutdown(true);
        server.setStopTimeout(500);
        server.start();

        // the first requests load and compile classes: sent here, before the balancer sends any
        HttpClient client = HttpClient.newHttpClient();
        for (int i = 0; i < 600; i++)
            for (String what : new String[] {"order?id=" + (1000 + i % 50), "depots"})
                client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/" + what)).build(), HttpResponse.BodyHandlers.ofString());
        warm = true;
        if (TIMING) System.out.println("warm");
    }
}

package shop;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.*;
import java.util.logging.*;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.restlet.*;
import org.restlet.data.Protocol;
import org.restlet.routing.Router;

public class Main {
    static final boolean TIMING = System.getenv("INVOICE_TIMING") != null;
    static final ObjectMapper json = new ObjectMapper();
    static SessionFactory sessions;
    static volatile boolean warm;

    public static void main(String[] args) throws Exception {
        Logger.getLogger("").setLevel(Level.WARNING);
        int port = Integer.parseInt(System.getenv("PORT"));
        Configuration cfg = new Configuration()
                .addAnnotatedClass(Invoice.class).addAnnotatedClass(Supplier.class).addAnnotatedClass(Line.class).addAnnotatedClass(Product.class)
                .setProperty("hibernate.connection.url",
                        "jdbc:postgresql://127.0.0.1:" + System.getenv("DB_PORT") + "/shop")
                .setProperty("hibernate.connection.username", "postgres")
                .setProperty("hibernate.connection.driver_class", "org.postgresql.Driver")
                .setProperty("hibernate.hikari.maximumPoolSize", "16")
                .setProperty("hibernate.hikari.minimumIdle", "16")
                .setProperty("hibernate.generate_statistics", String.valueOf(TIMING))
                .setProperty("hibernate.session.events.log", "false")
                .setProperty("hibernate.default_batch_fetch_size", System.getenv("BATCH_FETCH_SIZE"));
        sessions = cfg.buildSessionFactory();

        Component component = new Component();
        component.getLogService().setEnabled(false);
        Server server = component.getServers().add(Protocol.HTTP, "127.0.0.1", port);
        server.getContext().getParameters().add("shutdown.gracefully", "false");
        server.getContext().getParameters().add("shutdown.timeout", "500");
        Application app = new Application() {
            @Override
            public Restlet createInboundRoot() {
                Router router = new Router(getContext());
                router.attach("/health", HealthResource.class);
                router.attach("/invoices/{id}", InvoiceResource.class);
                router.attach("/customers/{id}", CustomerResource.class);
                return router;
            }
        };
        app.setStatusService(new org.restlet.service.StatusService(true));
        component.getDefaultHost().attach(app);
        component.start();

        // the first requests compile and load classes: done here, before the balancer sends any
        HttpClient client = HttpClient.newHttpClient();
        for (int i = 0; i < 600; i++)
            for (String what : new String[] {"invoices", "customers"})
                client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/" + what + "/" + (1 + i % 60))).build(),
                        HttpResponse.BodyHandlers.ofString());
        warm = true;
        if (TIMING) System.out.println("warm");
    }
}

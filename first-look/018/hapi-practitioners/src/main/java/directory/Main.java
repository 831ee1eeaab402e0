package directory;

import ca.uhn.fhir.context.FhirContext;
import ca.uhn.fhir.rest.server.RestfulServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.util.List;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** FHIR directory of practitioners: a HAPI FHIR plain server on embedded Tomcat. */
public final class Main {
    public static void main(String[] args) throws Exception {
        Directory directory = new Directory();
        LicenceCache licences = new LicenceCache(new LicenceRegister("http://127.0.0.1:" + System.getenv("REGISTER_PORT")));
        RestfulServer fhir = new RestfulServer(FhirContext.forR4Cached());
        fhir.setResourceProviders(new Providers.Practitioners(directory, licences), new Providers.Organizations(), new Providers.Locations());
        fhir.setDefaultPrettyPrint(false);

        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(Files.createTempDirectory("tomcat").toString());
        Connector warm = connector(0);
        tomcat.setConnector(warm);
        Context context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "fhir", fhir).setLoadOnStartup(1);
        context.addServletMappingDecoded("/fhir/*", "fhir");
        tomcat.start();

        for (long id : directory.ids()) {
            licences.of(id);
        }
        warmUp(warm.getLocalPort());
        licences.watch(List.of(2L * Directory.SITES + 7, 5L * Directory.SITES + 7));
        tomcat.getService().addConnector(connector(Integer.parseInt(System.getenv("PORT"))));
        tomcat.getServer().await();
    }

    private static Connector connector(int port) {
        Connector c = new Connector();
        c.setPort(port);
        c.setProperty("address", "127.0.0.1");
        c.setProperty("maxThreads", "60");
        c.setProperty("minSpareThreads", "20");
        c.setProperty("maxKeepAliveRequests", "-1");
        return c;
    }

    /** Lets the JIT compiler see the requests before the first user does. */
    private static void warmUp(int port) throws Exception {
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        long end = System.nanoTime() + 12_000_000_000L;
        for (int i = 0; i < 1500 && System.nanoTime() < end; i++) {
            for (String path : new String[] {"Practitioner/" + (i % 12 * Directory.SITES + 1 + i % 40), "Organization/" + i, "Location/" + i}) {
                http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/fhir/" + path)).build(),
                        HttpResponse.BodyHandlers.ofString());
            }
        }
    }
}

package freight;

import java.net.URI;
import java.net.http.*;
import org.apache.camel.Exchange;

/** The first requests load and compile classes: sent here, before the balancer sends any. */
public class Warmup {
    private volatile boolean started, warm;
    private final String port;

    public Warmup(String port) {
        this.port = port;
    }

    public void health(Exchange e) {
        synchronized (this) {
            if (!started) {
                started = true;
                Thread t = new Thread(this::run, "warmup");
                t.setDaemon(true);
                t.start();
            }
        }
        e.getMessage().setHeader(Exchange.HTTP_RESPONSE_CODE, warm ? 200 : 503);
        e.getMessage().setBody(warm ? "ok" : "starting");
    }

    private void run() {
        HttpClient client = HttpClient.newHttpClient();
        String[] paths = {"/quote?to=prg&kg=20", "/tariff?to=lis", "/quote?to=osl&kg=120"};
        try {
            for (int i = 0; i < 1500; i++) get(client, paths[i % paths.length]);
            for (int i = 0; i < 4; i++) get(client, "/board");
        } catch (Exception x) {
            x.printStackTrace();
        }
        warm = true;
        if (Main.TIMING) System.out.println("warm");
    }

    private void get(HttpClient client, String path) throws Exception {
        client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(), HttpResponse.BodyHandlers.ofString());
    }
}

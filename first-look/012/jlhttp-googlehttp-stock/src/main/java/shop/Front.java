package shop;

import com.google.api.client.http.GenericUrl;
import com.google.api.client.http.HttpRequestFactory;
import com.google.api.client.http.javanet.NetHttpTransport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.StringJoiner;
import java.util.concurrent.Executors;
import net.freeutils.httpserver.HTTPServer;

/** The shop's pages: what is in stock it asks the warehouse's service. */
public class Front {
    static final HttpRequestFactory client = new NetHttpTransport().createRequestFactory();
    static String warehouse;
    static boolean together;

    static String stock(String articles) throws IOException {
        return client.buildGetRequest(new GenericUrl(warehouse + "/stock/" + articles)).execute().parseAsString();
    }

    static int number(HTTPServer.Request request) {
        String path = request.getPath();
        return Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
    }

    static int send(HTTPServer.Response response, String body) throws IOException {
        byte[] bytes = body.getBytes("UTF-8");
        response.sendHeaders(200, bytes.length, -1, null, "application/json", null);
        response.getBody().write(bytes);
        return 0;
    }

    static String basket(int id) throws IOException {
        StringJoiner articles = new StringJoiner(",");
        StringJoiner lines = new StringJoiner(",", "[", "]");
        for (int i = 0; i < 14; i++) {
            int article = id * 31 + i * 17;
            if (together) articles.add(Integer.toString(article));
            else lines.add(stock(Integer.toString(article)));
        }
        return together ? "[" + stock(articles.toString()) + "]" : lines.toString();
    }

    public static void main(String[] args) throws Exception {
        warehouse = System.getenv("WAREHOUSE");
        together = "together".equals(System.getenv("ASK"));
        int port = Integer.parseInt(args[0]);
        HTTPServer server = new HTTPServer(port) {
            @Override protected ServerSocket createServerSocket() throws IOException {
                return new ServerSocket(port, 128, InetAddress.getLoopbackAddress());
            }
        };
        server.setSocketTimeout(60_000);
        server.setExecutor(Executors.newCachedThreadPool());
        HTTPServer.VirtualHost host = server.getVirtualHost(null);
        host.addContext("/health", (q, r) -> send(r, "{}"));
        host.addContext("/product/{id}", (q, r) -> send(r, stock(Integer.toString(number(q)))));
        host.addContext("/basket/{id}", (q, r) -> send(r, basket(number(q))));
        server.start();
    }
}

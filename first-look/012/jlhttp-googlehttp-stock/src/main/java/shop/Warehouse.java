package shop;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.StringJoiner;
import java.util.concurrent.Executors;

/** The warehouse's service: GET /stock/A,B,C takes it 4 ms and a little more for each further article. */
public class Warehouse {
    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 128);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/stock/", exchange -> {
            String[] articles = exchange.getRequestURI().getPath().substring(7).split(",");
            try {
                Thread.sleep(4 + articles.length / 8);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            StringJoiner rows = new StringJoiner(",");
            for (String a : articles) rows.add("{\"article\":" + a + ",\"pieces\":" + Math.abs(a.hashCode() % 90) + "}");
            byte[] body = rows.toString().getBytes("UTF-8");
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }
}

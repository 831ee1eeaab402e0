import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

public class Payments {
    public static void main(String[] args) throws Exception {
        HttpServer s = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
        s.setExecutor(Executors.newCachedThreadPool());
        s.createContext("/charge", ex -> {
            try { Thread.sleep(250); } catch (InterruptedException e) { }
            byte[] out = "paid".getBytes();
            ex.sendResponseHeaders(200, out.length);
            ex.getResponseBody().write(out);
            ex.close();
        });
        s.start();
    }
}

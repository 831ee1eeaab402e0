import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32;
import org.glassfish.grizzly.http.server.HttpHandler;
import org.glassfish.grizzly.http.server.HttpServer;
import org.glassfish.grizzly.http.server.Request;
import org.glassfish.grizzly.http.server.Response;

public class App {
    record Picture(String name, String owner, Integer width, Integer height) {}

    static final Map<String, Picture> pictures = new ConcurrentHashMap<>();

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(System.getenv().getOrDefault("PICTURES", "550000"));
        for (int i = 0; i < count; i++)
            pictures.put("p" + i, new Picture("picture " + i, "owner " + i % 5000, 600 + i % 4000, 400 + i % 3000));

        HttpServer server = HttpServer.createSimpleServer(null, "127.0.0.1", Integer.parseInt(System.getenv("PORT")));
        server.getServerConfiguration().addHttpHandler(new HttpHandler() {
            @Override public void service(Request request, Response response) throws Exception {
                Picture p = pictures.get(String.valueOf(request.getParameter("id")));
                if (p == null) { response.getWriter().write("no picture\n"); return; }
                ByteBuffer canvas = ByteBuffer.allocateDirect(512 * 512 * 4);
                draw(canvas, p.name().hashCode());
                canvas.rewind().limit(32 * 1024);
                CRC32 sum = new CRC32();
                sum.update(canvas);
                response.setContentType("text/plain");
                response.getWriter().write(p.name() + " " + p.width() + "x" + p.height() + " " + sum.getValue() + "\n");
            }
        }, "/thumb");
        server.start();
        Thread.currentThread().join();
    }

    static void draw(ByteBuffer canvas, int seed) {
        for (int i = 0; i < 8 * 1024; i++) canvas.putInt(seed * 31 + i);
    }
}

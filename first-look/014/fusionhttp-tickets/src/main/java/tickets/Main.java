package tickets;

import io.fusionauth.http.server.HTTPHandler;
import io.fusionauth.http.server.HTTPListenerConfiguration;
import io.fusionauth.http.server.HTTPResponse;
import io.fusionauth.http.server.HTTPServer;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;

/** Tickets of a museum: look one up, stamp one at the gate. */
public final class Main {
  private static final ConcurrentHashMap<Long, Long> STAMPED = new ConcurrentHashMap<>();

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0]);
    HTTPHandler handler = (req, res) -> {
      String[] path = req.getPath().split("/");
      if (path.length < 3) {
        send(res, 404, "{\"error\":\"no such page\"}");
        return;
      }
      long id = Long.parseLong(path[2]);
      switch (path[1]) {
        case "tickets" -> {
          Long at = STAMPED.get(id);
          send(res, 200, "{\"ticket\":" + id + ",\"day\":\"2025-0" + (1 + id % 9) + "-12\",\"stamped\":" + (at != null)
              + ",\"holder\":\"Visitor " + id % 4000 + "\"}");
        }
        case "stamps" -> {
          STAMPED.put(id % 50000, System.currentTimeMillis());
          res.setStatus(204);
        }
        default -> send(res, 404, "{\"error\":\"no such page\"}");
      }
    };
    HTTPServer server = new HTTPServer()
        .withHandler(handler)
        .withClientTimeout(Duration.ofSeconds(75))
        .withNumberOfWorkerThreads(32)
        .withListener(new HTTPListenerConfiguration(InetAddress.getByName("127.0.0.1"), port));
    server.start();
    Thread.currentThread().join();
  }

  private static void send(HTTPResponse res, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    res.setStatus(status);
    res.setContentType("application/json");
    res.setContentLength(bytes.length);
    res.getOutputStream().write(bytes);
    res.getOutputStream().close();
  }
}

package refunds;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.simpleframework.http.Request;
import org.simpleframework.http.Response;
import org.simpleframework.http.Status;
import org.simpleframework.http.core.Container;
import org.simpleframework.http.core.ContainerSocketProcessor;
import org.simpleframework.transport.connect.Connection;
import org.simpleframework.transport.connect.SocketConnection;

/** Refunds of a ticket shop. Refunds above a limit must be written to the audit log. */
public final class Main {
  private static final Logger AUDIT = LogManager.getLogger("audit");
  private static final boolean TIMING = System.getenv("TIMING") != null; // evidence only

  private record Order(long id, int cents, AtomicLong refunded) {}

  private static final ConcurrentHashMap<Long, Order> ORDERS = new ConcurrentHashMap<>();

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0]);
    for (long i = 0; i < 20000; i++) {
      // one order in eight is a group booking of more than 200.00
      int cents = i % 8 == 3 ? 20500 + (int) (i % 90) * 100 : 1200 + (int) (i % 170) * 50;
      ORDERS.put(i, new Order(i, cents, new AtomicLong()));
    }
    AUDIT.info("start");

    Container container = (req, res) -> {
      try {
        answer(req, res);
      } catch (Exception e) {
        LogManager.getLogger("shop").warn("request failed", e);
      }
    };
    Connection connection = new SocketConnection(new ContainerSocketProcessor(container, 32));
    connection.connect(new InetSocketAddress("127.0.0.1", port));
    Thread.currentThread().join();
  }

  private static void answer(Request req, Response res) throws IOException {
    String[] path = req.getPath().getPath().split("/");
    if (path.length < 3) {
      send(res, Status.NOT_FOUND, "{\"error\":\"no such page\"}");
      return;
    }
    Order order = ORDERS.get(Long.parseLong(path[2]) % 20000);
    switch (path[1]) {
      case "orders" -> send(res, Status.OK, "{\"order\":" + order.id() + ",\"cents\":" + order.cents()
          + ",\"refunded\":" + order.refunded().get() + "}");
      case "refunds" -> refund(res, order);
      default -> send(res, Status.NOT_FOUND, "{\"error\":\"no such page\"}");
    }
  }

  private static void refund(Response res, Order order) throws IOException {
    order.refunded().addAndGet(order.cents());
    if (order.cents() > 20000) {
      long t = System.nanoTime();
      AUDIT.info("refund order={} cents={} total={}", order.id(), order.cents(), order.refunded().get());
      if (TIMING) {
        System.out.printf("audit %.1f%n", (System.nanoTime() - t) / 1e6);
      }
    }
    send(res, Status.OK, "{\"order\":" + order.id() + ",\"refund\":" + order.cents() + "}");
  }

  private static void send(Response res, Status status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    res.setStatus(status);
    res.setContentType("application/json");
    res.setContentLength(bytes.length);
    res.getOutputStream().write(bytes);
    res.close();
  }
}

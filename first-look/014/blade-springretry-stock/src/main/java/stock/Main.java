package stock;

import com.hellokaton.blade.Blade;
import com.hellokaton.blade.mvc.RouteContext;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import org.springframework.retry.support.RetryTemplate;

/** Stock of a chain of garden shops: shop data from memory, levels from the warehouse service. */
public final class Main {
  private static final boolean TIMING = System.getenv("TIMING") != null; // evidence only
  private static final String WAREHOUSE = "http://127.0.0.1:" + System.getenv("WAREHOUSE_PORT");

  /** Spring Retry: three tries, a fixed wait between them. */
  private static final RetryTemplate RETRY = RetryTemplate.builder()
      .maxAttempts(3)
      .fixedBackoff(Long.parseLong(System.getenv("BACKOFF_MS")))
      .retryOn(IOException.class)
      .build();

  public static void main(String[] args) {
    Blade.create()
        .get("/shops/:id", Main::shop)
        .get("/stock/:id", Main::stock)
        .disableSession()
        .listen("127.0.0.1", Integer.parseInt(args[0]))
        .start(Main.class);
  }

  private static void shop(RouteContext context) {
    int id = context.pathInt("id");
    context.json("{\"shop\":" + id + ",\"town\":\"Town " + id % 300 + "\",\"open\":\"09:00\"}");
  }

  private static void stock(RouteContext context) {
    int id = context.pathInt("id");
    long t = System.nanoTime();
    int[] tries = {0};
    String level;
    try {
      level = RETRY.execute(attempt -> {
        tries[0]++;
        return level(id);
      });
    } catch (IOException e) {
      context.status(502).text("warehouse");
      return;
    }
    if (TIMING) {
      System.out.printf("tries %d %.1f %s%n", tries[0], (System.nanoTime() - t) / 1e6, Thread.currentThread().getName());
    }
    context.json("{\"item\":" + id + ",\"level\":" + level + "}");
  }

  private static String level(int id) throws IOException {
    HttpURLConnection c = (HttpURLConnection) new URL(WAREHOUSE + "/level/" + id).openConnection();
    c.setConnectTimeout(1000);
    c.setReadTimeout(2000);
    if (c.getResponseCode() != 200) {
      InputStream error = c.getErrorStream();
      if (error != null) {
        error.readAllBytes();
      }
      throw new IOException("warehouse says " + c.getResponseCode());
    }
    try (InputStream in = c.getInputStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}

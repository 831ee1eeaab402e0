import com.linecorp.armeria.common.HttpResponse;
import com.linecorp.armeria.common.MediaType;
import com.linecorp.armeria.common.HttpStatus;
import com.linecorp.armeria.server.Server;
import com.linecorp.armeria.server.annotation.Get;
import com.linecorp.armeria.server.annotation.Param;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.HashMap;
import java.util.Map;

public class App {
    private final Map<String, Integer> catalog = new HashMap<>();
    private final HttpClient http = HttpClient.newHttpClient();
    private final String supplier = System.getenv("SUPPLIER");

    App() {
        for (int i = 1; i <= 5000; i++) catalog.put("A" + i, 100 + i * 7 % 900);
    }

    @Get("/price/{sku}")
    public HttpResponse price(@Param("sku") String sku) throws Exception {
        Integer cents = catalog.get(sku);
        String body = cents != null
                ? "{\"sku\":\"" + sku + "\",\"cents\":" + cents + "}"
                : fromSupplier(sku);
        return HttpResponse.of(HttpStatus.OK, MediaType.JSON_UTF_8, body);
    }

    /** Articles that we do not stock ourselves. */
    private String fromSupplier(String sku) throws Exception {
        HttpRequest ask = HttpRequest.newBuilder(URI.create(supplier + "/articles/" + sku))
                .version(HttpClient.Version.HTTP_1_1).build();
        return http.send(ask, BodyHandlers.ofString()).body();
    }

    public static void main(String[] args) {
        Server.builder()
                .http(Integer.parseInt(System.getenv("PORT")))
                .workerGroup(Integer.parseInt(System.getenv().getOrDefault("WORKERS", "1")))
                .annotatedService(new App())
                .service("/health", (ctx, req) -> HttpResponse.of("ok"))
                .build()
                .start().join();
    }
}

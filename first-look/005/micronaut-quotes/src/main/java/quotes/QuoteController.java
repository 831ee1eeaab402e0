package quotes;

import io.micronaut.context.annotation.Value;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;

@Controller
public class QuoteController {
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String rates;

    QuoteController(@Value("${rates.url}") String rates) { this.rates = rates; }

    @Get("/products/{id}")
    Map<String, Object> product(long id) {
        return Map.of("id", id, "name", "Product " + id, "price", 100 + id % 900, "currency", "EUR");
    }

    @Get("/quotes/{id}")
    Map<String, Object> quote(long id) throws Exception {
        var res = http.send(HttpRequest.newBuilder(URI.create(rates + "/rate?from=EUR&to=CHF")).build(), HttpResponse.BodyHandlers.ofString());
        return Map.of("id", id, "price", (100 + id % 900) * Double.parseDouble(res.body()), "currency", "CHF");
    }
}

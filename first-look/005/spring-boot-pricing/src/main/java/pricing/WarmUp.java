package pricing;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.springframework.stereotype.Component;
import jakarta.annotation.PostConstruct;

/** Prices some offers before the first customer comes. */
@Component
class WarmUp {
    private final ObjectMapper json;
    WarmUp(ObjectMapper json) { this.json = json; }

    @PostConstruct
    void run() throws Exception {
        var pricing = new Pricing();
        for (long i = 0; i < 4000; i++) json.writeValueAsBytes(pricing.offer(i));
    }
}

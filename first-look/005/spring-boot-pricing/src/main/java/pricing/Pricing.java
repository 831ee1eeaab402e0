package pricing;

import java.util.*;
import java.util.stream.*;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.*;

@SpringBootApplication
@RestController
public class Pricing {
    record Line(String sku, int quantity, double net, double gross) {}
    record Offer(String id, List<Line> lines, double total, Map<String, Double> byGroup) {}

    @GetMapping("/health")
    String health() { return "ok"; }

    /** an offer of 120 lines, priced with its discounts */
    @GetMapping("/offers/{id}")
    Offer offer(@PathVariable("id") long id) {
        var random = new SplittableRandom(id);
        var lines = IntStream.range(0, 120).mapToObj(i -> {
            double net = 0;
            for (int step = 0; step < 60; step++) net += Math.round(random.nextDouble(100) * Math.exp(-step / 20.0) * 100) / 100.0;
            return new Line("sku-" + random.nextInt(500), 1 + random.nextInt(9), net, Math.round(net * 119) / 100.0);
        }).sorted(Comparator.comparing(Line::sku)).toList();
        var groups = lines.stream().collect(Collectors.groupingBy(l -> l.sku().substring(0, 5), TreeMap::new, Collectors.summingDouble(l -> l.gross() * l.quantity())));
        return new Offer("offer-" + id, lines, lines.stream().mapToDouble(l -> l.gross() * l.quantity()).sum(), groups);
    }

    /** the price list of a group: more lines, asked for now and then */
    @GetMapping("/lists/{id}")
    List<Offer> list(@PathVariable("id") long id) { return LongStream.range(id, id + 5).mapToObj(this::offer).toList(); }

    public static void main(String[] args) { SpringApplication.run(Pricing.class, args); }
}

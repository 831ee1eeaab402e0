package insurer;

import java.io.FileWriter;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.http.ResponseEntity;
import org.springframework.jms.core.JmsTemplate;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Claims of an insurer: small ones are paid at once, larger ones go to the back office by JMS. */
@SpringBootApplication
@RestController
public class ClaimsApplication {
    public record Claim(String policy, int amount, String what) {
    }

    public record Accepted(long number, String policy, String decision) {
    }

    private final JmsTemplate jms;
    private final Environment environment;
    private final AtomicLong numbers = new AtomicLong(100000);
    private final Map<String, ConcurrentLinkedDeque<Accepted>> byPolicy = new ConcurrentHashMap<>();
    private final FileWriter timing;
    private volatile boolean ready;

    public ClaimsApplication(JmsTemplate jms, Environment environment) throws IOException {
        this.jms = jms;
        this.environment = environment;
        String log = System.getenv("TIMING_LOG");
        timing = log == null ? null : new FileWriter(log, true);
    }

    public static void main(String[] args) {
        SpringApplication.run(ClaimsApplication.class, args);
    }

    @PostMapping("/claims/{policy}")
    public Mono<Accepted> open(@PathVariable("policy") String policy, @RequestBody Claim claim) {
        // JMS blocks, so it must not run on the event loop
        return Mono.fromCallable(() -> decide(policy, claim)).subscribeOn(Schedulers.boundedElastic());
    }

    @GetMapping("/claims/{policy}")
    public List<Accepted> list(@PathVariable("policy") String policy) {
        return List.copyOf(byPolicy.getOrDefault(policy, new ConcurrentLinkedDeque<>()));
    }

    @GetMapping("/health")
    public ResponseEntity<Map<String, Boolean>> health() {
        return ResponseEntity.status(ready ? 200 : 503).body(Map.of("ready", ready));
    }

    private Accepted decide(String policy, Claim claim) throws IOException {
        long number = numbers.incrementAndGet();
        boolean large = claim.amount() >= 1000;
        Accepted accepted = new Accepted(number, policy, large ? "in review" : "paid");
        ConcurrentLinkedDeque<Accepted> claims = byPolicy.computeIfAbsent(policy, p -> new ConcurrentLinkedDeque<>());
        claims.addFirst(accepted);
        while (claims.size() > 10) {
            claims.pollLast();
        }
        if (large) {
            long start = System.nanoTime();
            String body = "{\"number\": %d, \"policy\": \"%s\", \"amount\": %d}".formatted(number, policy, claim.amount());
            jms.convertAndSend("claims.review", body);
            jms.convertAndSend("claims.reserve", body);
            jms.convertAndSend("audit", body);
            jms.convertAndSend("statistics", body);
            jms.convertAndSend("letters", "{\"template\": \"review\", \"claim\": %d}".formatted(number));
            note("jms", start);
        }
        return accepted;
    }

    private void note(String what, long start) throws IOException {
        if (timing != null) {
            synchronized (timing) {
                timing.write("%s %.1f%n".formatted(what, (System.nanoTime() - start) / 1e6));
                timing.flush();
            }
        }
    }

    /** The instance gets traffic only after it has run its own routes. */
    @EventListener(ApplicationReadyEvent.class)
    public void warmUp() throws Exception {
        String base = "http://127.0.0.1:" + environment.getProperty("local.server.port");
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        for (int i = 0; i < 800; i++) {
            String body = "{\"policy\": \"T%d\", \"amount\": %d, \"what\": \"test\"}".formatted(i % 20, i % 10 == 0 ? 1000 : 10);
            http.send(HttpRequest.newBuilder(URI.create(base + "/claims/T" + i % 20)).header("content-type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(body)).build(), HttpResponse.BodyHandlers.ofString());
            http.send(HttpRequest.newBuilder(URI.create(base + "/claims/T" + i % 20)).build(), HttpResponse.BodyHandlers.ofString());
        }
        ready = true;
    }
}

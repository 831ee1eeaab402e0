package recalls;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.integration.dsl.IntegrationFlow;
import org.springframework.integration.http.HttpHeaders;
import org.springframework.integration.http.dsl.Http;
import org.springframework.integration.support.MessageBuilder;
import org.springframework.messaging.Message;

@SpringBootApplication
public class Main {
    public record Recall(int id, String product, int brand, String reason, String advice) {
    }

    public record Brand(int id, String name, String phone) {
    }

    private final Map<Integer, Recall> recalls = IntStream.rangeClosed(1, 60)
        .mapToObj(i -> new Recall(i, "Kettle " + i, i % 12 + 1, "the handle may come off when hot", "stop using it and bring it back"))
        .collect(Collectors.toMap(Recall::id, Function.identity()));
    private final Map<Integer, Brand> brands = IntStream.rangeClosed(1, 12)
        .mapToObj(i -> new Brand(i, "Brand " + i, "+47 22 00 " + (10 + i) + " " + (20 + i)))
        .collect(Collectors.toMap(Brand::id, Function.identity()));
    private final ConcurrentLinkedDeque<Map<?, ?>> reports = new ConcurrentLinkedDeque<>();
    private volatile boolean ready;

    public static void main(String[] args) {
        SpringApplication.run(Main.class, args);
    }

    @Bean
    Views views() throws IOException {
        String timeout = System.getenv("CACHE_TIMEOUT_MS");
        return new Views(System.getenv("CACHE_PORTS"), timeout == null ? 2500 : Long.parseLong(timeout));
    }

    private static Message<?> answer(int code, Object body) {
        return MessageBuilder.withPayload(body)
            .setHeader(HttpHeaders.STATUS_CODE, HttpStatus.valueOf(code))
            .setHeader("contentType", "application/json")
            .build();
    }

    @Bean
    IntegrationFlow healthFlow() {
        return IntegrationFlow
            .from(Http.inboundGateway("/health").requestMapping(m -> m.methods(HttpMethod.GET)).payloadExpression("'health'"))
            .handle((p, h) -> answer(ready ? 200 : 503, Map.of("ready", ready)))
            .get();
    }

    @Bean
    IntegrationFlow recallFlow(Views views) {
        return IntegrationFlow
            .from(Http.inboundGateway("/recalls/{id}")
                .requestMapping(m -> m.methods(HttpMethod.GET))
                .payloadExpression("#pathVariables.id")
                .headerExpression("device", "#requestParams['device'] != null ? #requestParams['device'][0] : 'none'"))
            .transform(String.class, Integer::valueOf)
            .handle(Integer.class, (id, h) -> {
                Recall r = recalls.get(id);
                if (r == null) {
                    return answer(404, Map.of("error", "no such recall"));
                }
                int shown = views.next(r.id(), String.valueOf(h.get("device")));
                return answer(200, Map.of("recall", r, "shown", shown, "banner", shown == 1));
            })
            .get();
    }

    @Bean
    IntegrationFlow brandFlow() {
        return IntegrationFlow
            .from(Http.inboundGateway("/brands/{id}")
                .requestMapping(m -> m.methods(HttpMethod.GET))
                .payloadExpression("#pathVariables.id"))
            .transform(String.class, Integer::valueOf)
            .handle(Integer.class, (id, h) -> {
                Brand b = brands.get(id);
                if (b == null) {
                    return answer(404, Map.of("error", "no such brand"));
                }
                List<Integer> own = recalls.values().stream().filter(r -> r.brand() == b.id()).map(Recall::id).sorted().toList();
                return answer(200, Map.of("brand", b, "recalls", own));
            })
            .get();
    }

    @Bean
    IntegrationFlow reportFlow() {
        return IntegrationFlow
            .from(Http.inboundGateway("/recalls/{id}/reports")
                .requestMapping(m -> m.methods(HttpMethod.POST).consumes("application/json"))
                .requestPayloadType(Map.class)
                .headerExpression("recall", "#pathVariables.id"))
            .handle(Map.class, (body, h) -> {
                reports.addFirst(body);
                while (reports.size() > 100) {
                    reports.pollLast();
                }
                return answer(201, Map.of("recall", h.get("recall"), "report", body.get("n")));
            })
            .get();
    }

    private static void ask(String url, String body) throws IOException {
        HttpURLConnection c = (HttpURLConnection) new URL(url).openConnection();
        if (body != null) {
            c.setRequestMethod("POST");
            c.setRequestProperty("content-type", "application/json");
            c.setDoOutput(true);
            c.getOutputStream().write(body.getBytes());
        }
        try (InputStream in = c.getInputStream()) {
            in.readAllBytes();
        }
    }

    /** some requests to itself, so that the first real ones find loaded classes */
    @EventListener(ApplicationReadyEvent.class)
    public void warmUp() throws InterruptedException {
        String base = "http://127.0.0.1:" + System.getenv("PORT") + "/";
        ExecutorService pool = Executors.newFixedThreadPool(4);
        for (int n = 1; n <= 400; n++) {
            int i = n;
            pool.execute(() -> {
                try {
                    ask(base + "recalls/" + (i % 60 + 1) + "?device=w" + i, null);
                    ask(base + "brands/" + (i % 12 + 1), null);
                    ask(base + "recalls/" + (i % 60 + 1) + "/reports", "{\"n\": " + i + "}");
                } catch (IOException e) {
                    System.err.println(e);
                }
            });
        }
        pool.shutdown();
        pool.awaitTermination(40, TimeUnit.SECONDS);
        ready = true;
    }
}

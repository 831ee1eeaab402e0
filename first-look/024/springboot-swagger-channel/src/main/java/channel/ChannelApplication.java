package channel;

import java.math.BigDecimal;
import java.security.MessageDigest;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import springfox.documentation.builders.RequestHandlerSelectors;
import springfox.documentation.spi.DocumentationType;
import springfox.documentation.spring.web.plugins.Docket;
import springfox.documentation.swagger2.annotations.EnableSwagger2;

/** Channel system: takes payment messages, checks and converts them for third-party channels. */
@SpringBootApplication
@EnableSwagger2
@RestController
public class ChannelApplication {
    private final Map<String, String> sent = new ConcurrentHashMap<>();

    public static void main(String[] args) {
        SpringApplication.run(ChannelApplication.class, args);
    }

    @Bean
    public Docket api() {
        return new Docket(DocumentationType.SWAGGER_2).select()
            .apis(RequestHandlerSelectors.basePackage("channel")).build();
    }

    @PostMapping("/send")
    public ResponseEntity<Map<String, Object>> send(@RequestBody Map<String, Object> message) throws Exception {
        Object order = message.get("order");
        Object amount = message.get("amount");
        if (order == null || amount == null || new BigDecimal(amount.toString()).signum() <= 0) {
            return new ResponseEntity<>(HttpStatus.BAD_REQUEST);
        }
        TreeMap<String, Object> converted = new TreeMap<>();
        converted.put("outTradeNo", "CH" + order);
        converted.put("totalFee", new BigDecimal(amount.toString()).movePointRight(2).toBigInteger());
        converted.put("subject", message.getOrDefault("subject", "-"));
        StringBuilder plain = new StringBuilder();
        converted.forEach((k, v) -> plain.append(k).append('=').append(v).append('&'));
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        byte[] sum = digest.digest(plain.append("key=4f1c").toString().getBytes("UTF-8"));
        StringBuilder sign = new StringBuilder();
        for (byte b : sum) {
            sign.append(String.format("%02x", b));
        }
        converted.put("sign", sign.toString());
        sent.put(order.toString(), sign.toString());
        return ResponseEntity.ok(converted);
    }

    @GetMapping("/orders/{order}")
    public Map<String, Object> order(@PathVariable String order) {
        TreeMap<String, Object> answer = new TreeMap<>();
        answer.put("order", order);
        answer.put("sign", sent.getOrDefault(order, "none"));
        answer.put("state", sent.containsKey(order) ? "sent" : "unknown");
        return answer;
    }

    @GetMapping("/health")
    public String health() {
        return "ok";
    }
}

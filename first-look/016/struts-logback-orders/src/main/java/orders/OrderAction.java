package orders;

import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.struts2.interceptor.parameter.StrutsParameter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

public class OrderAction extends JsonAction {
    private static final Logger log = LoggerFactory.getLogger(OrderAction.class);
    private static final Map<Long, String> states = new ConcurrentHashMap<>();
    private long id;

    @StrutsParameter
    public void setId(long id) { this.id = id; }

    @Override
    public String execute() throws Exception {
        long t0 = System.nanoTime();
        List<Map<String, Object>> lines = new ArrayList<>();
        long total = 0;
        for (int k = 0; k < 3 + id % 5; k++) {
            Map<String, Object> l = new LinkedHashMap<>();
            long cents = 250 + (id * 31 + k * 977) % 9000;
            l.put("article", "A-" + (id * 131 + k * 37) % 5000);
            l.put("cents", cents);
            total += cents;
            lines.add(l);
        }
        String state = states.merge(id, "seen", (a, b) -> "seen again");
        long t1 = System.nanoTime();
        log.info("order {} of {} lines, {} cents, {}", id, lines.size(), total, state);
        double ms = (System.nanoTime() - t1) / 1e6;
        if (Main.TIMING && ms > 10)
            System.out.printf("log.info took %.1f ms, all before it %.2f ms%n", ms, (t1 - t0) / 1e6);
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("order", id);
        out.put("state", state);
        out.put("lines", lines);
        out.put("total", total);
        return send(200, out);
    }
}

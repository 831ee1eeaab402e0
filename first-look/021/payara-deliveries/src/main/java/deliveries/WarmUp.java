package deliveries;

import jakarta.annotation.Resource;
import jakarta.enterprise.concurrent.ManagedExecutorService;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** Runs each route and each connection of the pool before the balancer sees the server as ready. */
@ApplicationScoped
public class WarmUp {
    static volatile boolean done;
    private static final AtomicBoolean STARTED = new AtomicBoolean();

    @Inject
    Parcels parcels;

    @Resource
    ManagedExecutorService executor;

    void start(@Observes @Initialized(ApplicationScoped.class) Object event) {
        if (STARTED.compareAndSet(false, true)) executor.submit(this::run);
    }

    private void run() {
        try {
            List<Connection> open = new ArrayList<>();
            for (int i = 0; i < 6; i++) open.add(parcels.open());
            for (Connection c : open) {
                for (int i = 0; i < 24; i++) parcels.board(c, 1 + i % 12);
                for (int i = 1; i < 8; i++) parcels.find(c, i);
            }
            for (Connection c : open) c.close();
            int port = Integer.parseInt(System.getenv("PORT"));
            for (int tries = 0; tries < 300; tries++) {
                try {
                    routes(port);
                    break;
                } catch (IOException e) {
                    if (System.getenv("DEL_TRACE") != null) System.err.println("TRACE warm-up " + e);
                    Thread.sleep(100);
                }
            }
            done = true;
            if (System.getenv("DEL_TRACE") != null) System.err.println("TRACE warm-up done");
        } catch (Exception e) {
            e.printStackTrace();
        }
    }

    private void routes(int port) throws IOException {
        try (Socket s = new Socket("127.0.0.1", port)) {
            s.setTcpNoDelay(true);
            byte[] buf = new byte[65536];
            for (int i = 0; i < 1500; i++) {
                String q = switch (i % 3) {
                    case 0 -> "GET /depots/" + (1 + i % 40) + "/board HTTP/1.1\r\nHost: localhost\r\n\r\n";
                    case 1 -> "GET /parcels/" + (1 + i) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
                    default -> "POST /scans/1 HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\n"
                        + "content-length: 8\r\n\r\n{\"n\": 1}";
                };
                s.getOutputStream().write(q.getBytes(StandardCharsets.US_ASCII));
                StringBuilder got = new StringBuilder();
                int end = -1;
                while (end < 0 || got.length() < end) {
                    int n = s.getInputStream().read(buf);
                    if (n < 0) throw new IOException("closed");
                    got.append(new String(buf, 0, n, StandardCharsets.ISO_8859_1));
                    int head = got.indexOf("\r\n\r\n");
                    if (end < 0 && head >= 0) {
                        if (got.indexOf(" 200 ") < 0) throw new IOException("not ready");
                        String h = got.substring(0, head + 2).toLowerCase();
                        int at = h.indexOf("content-length: ") + 16;
                        end = head + 4 + Integer.parseInt(h.substring(at, h.indexOf("\r", at)).trim());
                    }
                }
            }
        }
    }
}

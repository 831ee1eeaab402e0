package directory;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Licences by practitioner; those on the watch list are confirmed again and again. */
final class LicenceCache {
    private final ConcurrentMap<Long, LicenceRegister.Licence> licences = new ConcurrentHashMap<>();
    private final LicenceRegister register;
    private final boolean getFirst = "get-first".equals(System.getenv("CACHE_READ"));
    private final boolean trace = System.getenv("TRACE") != null;
    private int next;

    LicenceCache(LicenceRegister register) {
        this.register = register;
    }

    LicenceRegister.Licence of(long practitioner) {
        long t = System.nanoTime();
        LicenceRegister.Licence licence = getFirst ? licences.get(practitioner) : null;
        if (licence == null) {
            licence = licences.computeIfAbsent(practitioner, id -> register.fetch(id, false));
        }
        if (trace) {
            System.err.printf("lookup at=%d id=%d site=%d took=%.1f%n", System.currentTimeMillis(), practitioner,
                    practitioner % Directory.SITES, (System.nanoTime() - t) / 1e6);
        }
        return licence;
    }

    void watch(List<Long> watched) {
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(r -> {
            Thread t = new Thread(r, "licence-watch");
            t.setDaemon(true);
            return t;
        });
        timer.scheduleWithFixedDelay(() -> {
            long id = watched.get(next++ % watched.size());
            long t = System.currentTimeMillis();
            try {
                licences.compute(id, (k, old) -> register.fetch(k, true));
            } catch (RuntimeException e) {
                System.err.println("watch: " + e);
            }
            if (trace) {
                System.err.printf("watch at=%d id=%d took=%d%n", t, id, System.currentTimeMillis() - t);
            }
        }, 300, 260, TimeUnit.MILLISECONDS);
    }
}

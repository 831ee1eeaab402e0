package recalls;

import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;

/** Timings of single steps, when TRACE_LOG is set. */
final class Trace {
    private static final PrintWriter OUT = open();
    private static final long T0 = System.nanoTime();

    private Trace() {
    }

    private static PrintWriter open() {
        String name = System.getenv("TRACE_LOG");
        try {
            return name == null ? null : new PrintWriter(new FileWriter(name), true);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static long now() {
        return System.nanoTime();
    }

    static synchronized void add(String what, long from) {
        if (OUT != null) {
            OUT.println(String.format(Locale.ROOT, "%.3f %s %.2f", (from - T0) / 1e6, what, (System.nanoTime() - from) / 1e6));
        }
    }
}

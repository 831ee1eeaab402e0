package clearing;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Takes batches in. A batch can be recalled for two seconds; then its confirmation goes out and only its summary is
 * wanted. Batches of 80 payments are sent on in two parts, either of which can come back, so their messages are kept
 * in "parts". JOBS_RELEASE=1: they leave it with the confirmation of the second part; else nothing takes them out.
 */
final class Jobs {
    private final Path spool;
    private final boolean release = "1".equals(System.getenv("JOBS_RELEASE"));
    private final Map<Long, Job> registry = new ConcurrentHashMap<>();
    private final Map<Long, Document> parts = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();
    private final ScheduledExecutorService confirmations = Executors.newSingleThreadScheduledExecutor(r -> {
        Thread t = new Thread(r, "confirmations");
        t.setDaemon(true);
        return t;
    });
    private static final ThreadLocal<DocumentBuilderFactory> FACTORY = ThreadLocal.withInitial(DocumentBuilderFactory::newInstance);

    Jobs(Path spool) {
        this.spool = spool;
    }

    /** The divided batches of the day so far, from the journal. */
    void replay(int jobs) throws Exception {
        for (int i = 0; i < jobs; i++) {
            confirm(take(10 + 11 * (i % 5)));
        }
    }

    Job submit(int batch) throws Exception {
        Job job = take(batch);
        confirmations.schedule(() -> confirm(job), 2, TimeUnit.SECONDS);
        return job;
    }

    Job find(long id) {
        return registry.get(id);
    }

    private Job take(int batch) throws Exception {
        Document doc;
        try (InputStream in = Files.newInputStream(spool.resolve("batch-" + batch + ".xml"))) {
            doc = FACTORY.get().newDocumentBuilder().parse(in);
        }
        NodeList payments = doc.getElementsByTagName("CdtTrfTxInf");
        long cents = 0;
        for (int i = 0; i < payments.getLength(); i++) {
            Element p = (Element) payments.item(i);
            cents += Math.round(Double.parseDouble(text(p, "InstdAmt")) * 100);
            if (text(p, "IBAN").length() < 15 || text(p, "Nm").isEmpty() || text(p, "Ustrd").isEmpty()) {
                throw new IllegalArgumentException("payment " + i);
            }
        }
        Job job = new Job(ids.incrementAndGet(), batch, doc,
                new Job.Summary(payments.getLength(), cents, text(doc.getDocumentElement(), "Dbtr")));
        registry.put(job.id, job);
        if (job.summary.payments() >= 80) {
            parts.put(job.id, doc);
        }
        return job;
    }

    private void confirm(Job job) {
        job.release();
        if (release) {
            parts.remove(job.id);
        }
    }

    private static String text(Element e, String name) {
        return e.getElementsByTagName(name).item(0).getTextContent().trim();
    }
}

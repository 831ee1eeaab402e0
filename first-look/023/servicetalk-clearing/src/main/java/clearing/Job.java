package clearing;

import org.w3c.dom.Document;

/** One payment batch on its way through clearing. */
final class Job {
    final long id;
    final int batch;
    final Summary summary;
    private Document document; // the pain.001 message as parsed, until the confirmation is out

    record Summary(int payments, long cents, String debtor) { }

    Job(long id, int batch, Document document, Summary summary) {
        this.id = id;
        this.batch = batch;
        this.document = document;
        this.summary = summary;
    }

    Document document() {
        return document;
    }

    void release() {
        document = null;
    }
}

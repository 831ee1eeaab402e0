package shop;

import java.util.*;
import org.hibernate.Session;
import org.restlet.data.MediaType;
import org.restlet.data.Status;
import org.restlet.representation.Representation;
import org.restlet.representation.StringRepresentation;
import org.restlet.resource.Get;
import org.restlet.resource.ResourceException;
import org.restlet.resource.ServerResource;

public class InvoiceResource extends ServerResource {
    @Get("json")
    public Representation show() throws Exception {
        long id = Long.parseLong(getAttribute("id"));
        long t0 = System.nanoTime();
        Map<String, Object> out = new LinkedHashMap<>();
        int count;
        long statements = 0;
        try (Session session = Main.sessions.openSession()) {
            session.setDefaultReadOnly(true);
            Invoice invoice = session.find(Invoice.class, id);
            if (invoice == null) throw new ResourceException(Status.CLIENT_ERROR_NOT_FOUND);
            long total = 0;
            List<Map<String, Object>> lines = new ArrayList<>();
            for (Line line : invoice.getLines()) {
                Product p = line.getProduct();
                long sum = (long) p.getPriceCents() * line.getQuantity();
                total += sum;
                Map<String, Object> l = new LinkedHashMap<>();
                l.put("article", p.getName());
                l.put("quantity", line.getQuantity());
                l.put("unit", p.getUnit());
                l.put("origin", p.getSupplier().getCountry());
                l.put("cents", sum);
                lines.add(l);
            }
            count = lines.size();
            out.put("invoice", invoice.getId());
            out.put("customer", invoice.getCustomer());
            out.put("lines", lines);
            out.put("total", total);
            if (Main.TIMING) statements = Main.sessions.getStatistics().getPrepareStatementCount();
        }
        if (Main.TIMING)
            System.out.printf("invoice %d lines %d ms %.1f statements-so-far %d%n", id, count, (System.nanoTime() - t0) / 1e6, statements);
        return new StringRepresentation(Main.json.writeValueAsString(out), MediaType.APPLICATION_JSON);
    }
}

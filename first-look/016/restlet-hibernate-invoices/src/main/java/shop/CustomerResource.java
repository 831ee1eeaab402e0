package shop;

import java.util.Map;
import org.hibernate.Session;
import org.restlet.data.MediaType;
import org.restlet.representation.Representation;
import org.restlet.representation.StringRepresentation;
import org.restlet.resource.Get;
import org.restlet.resource.ServerResource;

public class CustomerResource extends ServerResource {
    @Get("json")
    public Representation show() throws Exception {
        long id = Long.parseLong(getAttribute("id"));
        try (Session session = Main.sessions.openSession()) {
            String name = session.createQuery("select i.customer from Invoice i where i.id = :id", String.class)
                    .setParameter("id", id).getSingleResult();
            return new StringRepresentation(Main.json.writeValueAsString(Map.of("invoice", id, "customer", name)),
                    MediaType.APPLICATION_JSON);
        }
    }
}

package deliveries;

import jakarta.inject.Inject;
import jakarta.json.JsonObject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

@Path("/")
@Produces("application/json")
public class Resources {
    private static final AtomicLong SCANS = new AtomicLong();

    @Inject
    Parcels parcels;

    @GET
    @Path("status")
    @Produces("text/plain")
    public String status() {
        if (!WarmUp.done) throw new jakarta.ws.rs.ServiceUnavailableException();
        return "up";
    }

    @GET
    @Path("depots/{id}/board")
    public List<Parcels.Parcel> board(@PathParam("id") int depot) throws SQLException {
        try (Connection c = parcels.open()) {
            return parcels.board(c, depot);
        }
    }

    @GET
    @Path("parcels/{id}")
    public Parcels.Parcel parcel(@PathParam("id") long id) throws SQLException {
        try (Connection c = parcels.open()) {
            Parcels.Parcel p = parcels.find(c, id);
            if (p == null) throw new NotFoundException();
            return p;
        }
    }

    @POST
    @Path("scans/{depot}")
    @Consumes("application/json")
    public Map<String, Object> scan(@PathParam("depot") int depot, JsonObject body) {
        return Map.of("depot", depot, "scan", SCANS.incrementAndGet(), "n", body.getInt("n", 0));
    }
}

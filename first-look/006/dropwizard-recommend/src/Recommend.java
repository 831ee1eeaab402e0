import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.dropwizard.core.Application;
import io.dropwizard.core.Configuration;
import io.dropwizard.core.setup.Environment;
import jakarta.ws.rs.*;
import jakarta.ws.rs.core.MediaType;
import java.util.*;

public class Recommend extends Application<Configuration> {
    public record Item(int id, double score, String reason) {}
    public record Profile(long visitor, List<Item> items) {}

    @Path("/")
    @Produces(MediaType.APPLICATION_JSON)
    public static class Visitors {
        final int perProfile;
        final Cache<Long, Profile> profiles;

        Visitors(int cached, int perProfile) {
            this.perProfile = perProfile;
            profiles = Caffeine.newBuilder().maximumSize(cached).build();
            for (long v = -cached; v < 0; v++) profiles.put(v, score(v));   // the visitors of yesterday
        }

        Profile score(long visitor) {
            var rnd = new SplittableRandom(visitor);
            var items = new ArrayList<Item>(perProfile);
            for (int i = 0; i < perProfile; i++) {
                int id = rnd.nextInt(40_000);
                items.add(new Item(id, rnd.nextDouble(), "viewed-" + id));
            }
            items.sort(Comparator.comparingDouble(Item::score).reversed());
            return new Profile(visitor, items);
        }

        @GET @Path("visitors/{id}")
        public List<Item> recommend(@PathParam("id") long id) {
            return profiles.get(id, this::score).items().subList(0, 10);
        }

        @GET @Path("ready")
        public String ready() { return "\"ok\""; }
    }

    @Override
    public void initialize(io.dropwizard.core.setup.Bootstrap<Configuration> b) {
        b.setConfigurationSourceProvider(new io.dropwizard.configuration.SubstitutingSourceProvider(
            b.getConfigurationSourceProvider(), new io.dropwizard.configuration.EnvironmentVariableSubstitutor()));
    }

    @Override
    public void run(Configuration c, Environment env) {
        env.jersey().register(new Visitors(Integer.parseInt(System.getenv("CACHED")), Integer.parseInt(System.getenv("ITEMS"))));
    }

    public static void main(String[] args) throws Exception { new Recommend().run(args); }
}

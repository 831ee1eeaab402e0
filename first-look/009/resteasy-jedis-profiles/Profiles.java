import jakarta.ws.rs.*;
import java.util.*;
import org.jboss.resteasy.plugins.server.netty.NettyJaxrsServer;
import org.jboss.resteasy.spi.ResteasyDeployment;
import org.jboss.resteasy.core.ResteasyDeploymentImpl;
import redis.clients.jedis.*;

/** Profiles and a mailbox for the browser's long polling, all in Redis; RESTEasy on Netty. */
public class Profiles {
    static JedisPool pool;

    @Path("/")
    @Produces("text/plain")
    public static class Api {
        @GET @Path("healthz")
        public String health() { return "ok"; }

        @GET @Path("profile/{id}")
        public String profile(@PathParam("id") String id) {
            try (Jedis redis = pool.getResource()) {
                Map<String, String> fields = redis.hgetAll("profile:" + id);
                return new TreeMap<>(fields).toString();
            }
        }

        @GET @Path("friends/{id}")
        public String friends(@PathParam("id") int id) {
            StringBuilder page = new StringBuilder();
            try (Jedis redis = pool.getResource()) {
                Pipeline p = redis.pipelined();
                List<Response<Map<String, String>>> all = new ArrayList<>();
                for (int i = 0; i < 60; i++) all.add(p.hgetAll("profile:" + (id + i * 7) % 1000));
                p.sync();
                for (Response<Map<String, String>> one : all) page.append(new TreeMap<>(one.get())).append('\n');
            }
            return page.toString();
        }

        @GET @Path("mail/{id}")
        public String mail(@PathParam("id") String id, @QueryParam("wait") @DefaultValue("0.2") double wait) {
            try (Jedis redis = pool.getResource()) {
                redis.clients.jedis.util.KeyValue<String, String> letter = redis.blpop(wait, "mail:" + id);
                return letter == null ? "nothing new" : letter.getValue();
            }
        }
    }

    public static void main(String[] a) {
        JedisPoolConfig config = new JedisPoolConfig();
        config.setMaxTotal(Integer.parseInt(System.getenv().getOrDefault("REDIS_POOL", "8")));
        config.setMaxIdle(config.getMaxTotal());
        pool = new JedisPool(config, "127.0.0.1", Integer.parseInt(a[1]));
        try (Jedis redis = pool.getResource()) {
            for (int i = 0; i < 1000; i++)
                redis.hset("profile:" + i, Map.of("name", "User " + i, "city", "Town " + i % 60, "mail", "u" + i + "@example.org", "since", "20" + (10 + i % 15)));
        }
        ResteasyDeployment deployment = new ResteasyDeploymentImpl();
        deployment.setResources(new ArrayList<>(List.of(new Api())));
        NettyJaxrsServer server = new NettyJaxrsServer();
        server.setDeployment(deployment);
        server.setHostname("127.0.0.1");
        server.setPort(Integer.parseInt(a[0]));
        server.setExecutorThreadCount(48);
        server.start();
    }
}

import fi.iki.elonen.NanoHTTPD;
import java.sql.*;
import org.h2.jdbcx.JdbcConnectionPool;

/** A shop on NanoHTTPD whose data lie in an H2 server of their own process. */
public class Shop extends NanoHTTPD {
    final JdbcConnectionPool pool;

    Shop(int port, String db) {
        super("127.0.0.1", port);
        pool = JdbcConnectionPool.create("jdbc:h2:tcp://127.0.0.1:" + db + "/mem:shop", "sa", "");
        pool.setMaxConnections(40);
    }

    @Override
    public Response serve(IHTTPSession session) {
        if (session.getUri().equals("/health")) return newFixedLengthResponse("ok\n");
        int id = Integer.parseInt(session.getParms().getOrDefault("id", "1"));
        try (Connection c = pool.getConnection();
             PreparedStatement p = c.prepareStatement("select name, note from item where id = ?")) {
            p.setInt(1, id);
            ResultSet r = p.executeQuery();
            return newFixedLengthResponse(r.next() ? r.getString(1) + " " + r.getString(2).length() + "\n" : "none\n");
        } catch (SQLException e) {
            return newFixedLengthResponse(Response.Status.INTERNAL_ERROR, "text/plain", e + "\n");
        }
    }

    public static void main(String[] args) throws Exception {
        new Shop(Integer.parseInt(args[0]), args[1]).start(60000, false);
    }
}

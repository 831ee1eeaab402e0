package air;

import io.undertow.server.HttpServerExchange;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.Map;

public class StationHandler extends DbHandler {
    @Override
    Object answer(HttpServerExchange exchange, Connection c) throws Exception {
        try (PreparedStatement s = c.prepareStatement("select name, street, height from station where id = ?")) {
            s.setInt(1, station(exchange));
            try (ResultSet rs = s.executeQuery()) {
                return rs.next() ? Map.of("name", rs.getString(1), "street", rs.getString(2), "height", rs.getInt(3)) : null;
            }
        }
    }
}

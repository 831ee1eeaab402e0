package air;

import io.undertow.server.HttpServerExchange;
import java.sql.Connection;
import java.sql.ResultSet;
import java.util.Map;

public class HealthHandler extends DbHandler {
    @Override
    Object answer(HttpServerExchange exchange, Connection c) throws Exception {
        try (ResultSet rs = c.createStatement().executeQuery("select count(*) from station")) {
            rs.next();
            return Map.of("stations", rs.getInt(1));
        }
    }
}

package air;

import com.fasterxml.jackson.databind.JsonNode;
import io.undertow.server.HttpServerExchange;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.Map;

public class MeasurementHandler extends DbHandler {
    @Override
    Object answer(HttpServerExchange exchange, Connection c) throws Exception {
        JsonNode in = JSON.readTree(exchange.getInputStream());
        try (PreparedStatement s = c.prepareStatement("insert into measurement (station, at, pm10, no2) values (?, now(), ?, ?)")) {
            s.setInt(1, station(exchange));
            s.setDouble(2, in.path("pm10").asDouble());
            s.setDouble(3, in.path("no2").asDouble());
            return Map.of("stored", s.executeUpdate());
        }
    }
}

package air;

import io.undertow.server.HttpServerExchange;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

public class HoursHandler extends DbHandler {
    @Override
    Object answer(HttpServerExchange exchange, Connection c) throws Exception {
        List<Map<String, Object>> hours = new ArrayList<>();
        try (PreparedStatement s = c.prepareStatement("select hour, pm10, no2, peak from station_hour where station = ? order by hour desc limit 12")) {
            s.setInt(1, station(exchange));
            try (ResultSet rs = s.executeQuery()) {
                while (rs.next()) {
                    hours.add(Map.of("hour", rs.getString(1), "pm10", rs.getDouble(2), "no2", rs.getDouble(3), "peak", rs.getDouble(4)));
                }
            }
        }
        return hours.isEmpty() ? null : hours;
    }
}

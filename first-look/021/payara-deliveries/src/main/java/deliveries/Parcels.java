package deliveries;

import jakarta.annotation.Resource;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

@ApplicationScoped
public class Parcels {
    public record Parcel(long id, String recipient, String status, int grams, String created) {}

    private static final boolean TRACE = System.getenv("DEL_TRACE") != null;
    private static final String COLUMNS = "select id, recipient, status, grams, created from parcels ";

    @Resource(lookup = "java:app/jdbc/deliveries")
    private DataSource db;

    Connection open() throws SQLException {
        return db.getConnection();
    }

    private static Parcel of(ResultSet r) throws SQLException {
        return new Parcel(r.getLong(1), r.getString(2), r.getString(3), r.getInt(4), r.getString(5));
    }

    /** The newest parcels of a depot, for the board on its wall. */
    List<Parcel> board(Connection c, int depot) throws SQLException {
        long t0 = System.nanoTime();
        List<Parcel> out = new ArrayList<>(20);
        try (PreparedStatement s = c.prepareStatement(COLUMNS + "where depot_id = ? order by created desc limit 20")) {
            s.setInt(1, depot);
            try (ResultSet r = s.executeQuery()) {
                while (r.next()) out.add(of(r));
            }
        }
        if (TRACE) {
            long us = (System.nanoTime() - t0) / 1000;
            if (us > 10000) System.err.println("TRACE board of depot " + depot + " " + us + " us");
        }
        return out;
    }

    Parcel find(Connection c, long id) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(COLUMNS + "where id = ?")) {
            s.setLong(1, id);
            try (ResultSet r = s.executeQuery()) {
                return r.next() ? of(r) : null;
            }
        }
    }
}

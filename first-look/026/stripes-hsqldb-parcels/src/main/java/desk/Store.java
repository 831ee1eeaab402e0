package desk;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;

/** The desk's tables, in memory; each worker thread has a session of its own. */
public class Store {
    private static final String URL = "jdbc:hsqldb:mem:desk;hsqldb.tx=mvcc";

    private static final ThreadLocal<Connection> SESSION = ThreadLocal.withInitial(() -> {
        try {
            return DriverManager.getConnection(URL, "SA", "");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    });

    public static Connection session() {
        return SESSION.get();
    }

    public static void open() throws SQLException {
        Connection c = session();
        try (Statement s = c.createStatement()) {
            s.execute("create table parcel (id int primary key, depot int, grams int, town varchar(40))");
            s.execute("create table scan (parcel int, seq int, depot int, note varchar(40), primary key (parcel, seq))");
            s.execute("create index parcel_depot on parcel (depot)");
        }
        Random r = new Random(11);
        try (PreparedStatement p = c.prepareStatement("insert into parcel values (?, ?, ?, ?)");
             PreparedStatement q = c.prepareStatement("insert into scan values (?, ?, ?, ?)")) {
            for (int id = 0; id < 2000; id++) {
                p.setInt(1, id);
                p.setInt(2, id % 50);
                p.setInt(3, 100 + r.nextInt(9000));
                p.setString(4, "town " + r.nextInt(300));
                p.addBatch();
                for (int seq = 0; seq < 6; seq++) {
                    q.setInt(1, id);
                    q.setInt(2, seq);
                    q.setInt(3, r.nextInt(50));
                    q.setString(4, "belt " + r.nextInt(20));
                    q.addBatch();
                }
            }
            p.executeBatch();
            q.executeBatch();
        }
    }
}

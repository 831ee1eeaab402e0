import java.sql.*;
import org.h2.tools.Server;

/** The H2 server with the shop's items: Db PORT ROWS MONITOR_MS. */
public class Db {
    public static void main(String[] args) throws Exception {
        int rows = Integer.parseInt(args[1]), every = Integer.parseInt(args[2]);
        Connection c = DriverManager.getConnection("jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1", "sa", "");
        Statement s = c.createStatement();
        s.execute("create table item (id int primary key, name varchar, note varchar)");
        s.execute("insert into item select x, 'item ' || x, repeat('n', 60) || x from system_range(1, " + rows + ")");
        Server.createTcpServer("-tcpPort", args[0], "-tcpDaemon").start();
        while (true) {                     // the monitoring agent's query
            Thread.sleep(every > 0 ? every : 60000);
            if (every > 0) try (ResultSet r = s.executeQuery("call memory_used()")) { r.next(); }
        }
    }
}

import com.zaxxer.hikari.{HikariConfig, HikariDataSource}
import org.apache.pekko.actor.typed.ActorSystem
import org.apache.pekko.actor.typed.scaladsl.Behaviors
import org.apache.pekko.http.scaladsl.Http
import org.apache.pekko.http.scaladsl.model.{ContentTypes, HttpEntity}
import org.apache.pekko.http.scaladsl.server.Directives._

import scala.concurrent.{ExecutionContext, Future}

object Bookings {
  case class Room(id: Int, name: String, beds: Int, rate: Int)
  val rooms: Map[Int, Room] = (1 to 200).map(i => i -> Room(i, s"Room $i", 1 + i % 4, 60 + i % 90)).toMap

  def main(args: Array[String]): Unit = {
    implicit val system: ActorSystem[Nothing] = ActorSystem(Behaviors.empty, "bookings")
    implicit val ec: ExecutionContext = system.executionContext

    val cfg = new HikariConfig()
    cfg.setJdbcUrl(sys.env("DB_URL"))
    cfg.setUsername("postgres")
    cfg.setMaximumPoolSize(40)
    cfg.setMinimumIdle(40)
    val db = new HikariDataSource(cfg)

    def statement(account: Int): Future[String] = Future {
      val c = db.getConnection
      try {
        val st = c.prepareStatement("select day, amount from statement(?)")
        st.setInt(1, account)
        val rs = st.executeQuery()
        val out = new StringBuilder("day,amount\n")
        while (rs.next()) out.append(rs.getString(1)).append(',').append(rs.getBigDecimal(2)).append('\n')
        out.toString
      } finally c.close()
    }

    def json(s: String) = complete(HttpEntity(ContentTypes.`application/json`, s))
    val routes = get {
      concat(
        path("rooms" / IntNumber) { id =>
          rooms.get(id) match {
            case Some(r) => json(s"""{"id":${r.id},"name":"${r.name}","beds":${r.beds},"rate":${r.rate}}""")
            case None    => reject
          }
        },
        path("accounts" / IntNumber / "statement") { id =>
          onSuccess(statement(id))(csv => complete(csv))
        },
        path("ready")(complete("ok"))
      )
    }
    Http().newServerAt("127.0.0.1", sys.env("PORT").toInt).bind(routes)
  }
}

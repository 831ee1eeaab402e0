import com.twitter.finagle.{Http, Service}
import com.twitter.finagle.http.{Request, Response, Status}
import com.twitter.util.{Await, Future}
import java.util.concurrent.ConcurrentHashMap

case class Item(sku: String, qty: Int, price: Double)
case class Session(id: String, user: String, items: List[Item], seen: Map[String, Long])

object Main {
  private val sessions = new ConcurrentHashMap[Int, Session]()
  private val pages = sys.env.getOrElse("PAGE_CACHE", "0").toInt
  private val rows = sys.env.getOrElse("ROWS", "40").toInt

  // least recently used rendered pages
  private val cache = new java.util.LinkedHashMap[String, Array[String]](64, 0.75f, true) {
    override def removeEldestEntry(e: java.util.Map.Entry[String, Array[String]]) = size > pages
  }

  private def session(n: Int) = Session("s" + n, "user" + n,
    List.tabulate(6)(i => Item("sku-" + (n * 7 + i), i + 1, i * 1.5)),
    Map("cart" -> n.toLong, "home" -> (n + 1L), "list" -> (n + 2L)))

  private def render(s: Session, view: String): Array[String] =
    Array.tabulate(rows) { i =>
      val it = s.items(i % s.items.size)
      s"<tr><td>$i</td><td>${s.user}</td><td>${it.sku}</td><td>${it.qty * it.price}</td><td>$view</td></tr>"
    }

  private val service = Service.mk[Request, Response] { req =>
    val rep = Response()
    req.path.split('/').drop(1) match {
      case Array("session", n) =>
        val s = sessions.get(n.toInt % sessions.size)
        val page = render(s, req.getParam("view", "all"))
        if (pages > 0) cache.synchronized { cache.put(req.uri, page) }
        rep.contentString = page.take(30).mkString("<table>", "", "</table>")
      case _ => rep.contentString = "ok"
    }
    Future.value(rep)
  }

  def main(args: Array[String]): Unit = {
    for (n <- 0 until sys.env.getOrElse("SESSIONS", "10000").toInt) sessions.put(n, session(n))
    Await.ready(Http.server.serve("127.0.0.1:" + sys.env("PORT"), service))
  }
}

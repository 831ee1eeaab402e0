package carparks

import java.io.{FileWriter, PrintWriter}
import java.sql.DriverManager
import java.util.concurrent.{Executors, TimeUnit}

import scala.concurrent.duration._
import scala.concurrent.{Await, Future}

import akka.actor.ActorSystem
import akka.http.scaladsl.Http
import akka.http.scaladsl.marshallers.sprayjson.SprayJsonSupport._
import akka.http.scaladsl.model._
import akka.http.scaladsl.server.Directives._
import akka.http.scaladsl.server.Route
import com.typesafe.config.ConfigFactory
import slick.jdbc.PostgresProfile.api._
import spray.json._
import spray.json.DefaultJsonProtocol._

case class Load(carPark: Int, visits: Long, plates: Long, stay: Double)
case class Tariff(carPark: Int, name: String, spaces: Int, cents: Int)
case class Entry(n: Long)

/** Timings of single steps, when TRACE_LOG is set. */
object Trace {
  private val out = sys.env.get("TRACE_LOG").map(n => new PrintWriter(new FileWriter(n), true))
  private val t0 = System.nanoTime()
  def now: Long = System.nanoTime()
  def add(what: String, from: Long): Unit = out.foreach { o =>
    val d = (System.nanoTime() - from) / 1e6
    val at = (from - t0) / 1e6
    o.synchronized(o.println(f"$at%.3f $what $d%.2f"))
  }
}

object Main {
  implicit val loadFormat: RootJsonFormat[Load] = jsonFormat4(Load)
  implicit val tariffFormat: RootJsonFormat[Tariff] = jsonFormat4(Tariff)
  implicit val entryFormat: RootJsonFormat[Entry] = jsonFormat1(Entry)

  @volatile private var ready = false

  def main(args: Array[String]): Unit = {
    val config = ConfigFactory.load()
    implicit val system: ActorSystem = ActorSystem("carparks", config)
    import system.dispatcher
    val db = Database.forConfig("db", config)

    def traced[T](what: String)(f: => Future[T]): Future[T] = {
      val t = Trace.now
      val r = f
      r.onComplete(_ => Trace.add(what, t))
      r
    }

    def load(id: Int): Future[Option[Load]] = traced("load") {
      db.run(sql"SELECT car_park, visits, plates, stay FROM car_park_load WHERE car_park = $id"
        .as[(Int, Long, Long, Double)].headOption).map(_.map(Load.tupled))
    }

    def tariff(id: Int): Future[Option[Tariff]] = traced("tariff") {
      db.run(sql"SELECT id, name, spaces, cents FROM car_park WHERE id = $id"
        .as[(Int, String, Int, Int)].headOption).map(_.map(Tariff.tupled))
    }

    def enter(id: Int, e: Entry): Future[Long] = traced("enter") {
      val plate = "RX" + (e.n % 997)
      db.run(sql"INSERT INTO visit (car_park, plate, stay) VALUES ($id, $plate, 0) RETURNING id".as[Long].head)
    }

    val route: Route = concat(
      path("health") {
        get {
          if (ready) complete("up") else complete(StatusCodes.ServiceUnavailable)
        }
      },
      path("carparks" / IntNumber / "load") { id =>
        get(rejectEmptyResponse(complete(load(id))))
      },
      path("carparks" / IntNumber / "tariff") { id =>
        get(rejectEmptyResponse(complete(tariff(id))))
      },
      path("carparks" / IntNumber / "entries") { id =>
        post(entity(as[Entry]) { e =>
          onSuccess(enter(id, e))(v => complete(StatusCodes.Created -> Map("visit" -> v)))
        })
      }
    )

    val port = sys.env("PORT").toInt
    Await.result(Http().newServerAt("127.0.0.1", port).bind(route), 30.seconds)

    // the view is brought up to date all the time
    val statement = config.getString("load.refresh")
    val every = config.getLong("load.every-ms")
    val timer = Executors.newSingleThreadScheduledExecutor { r =>
      val t = new Thread(r, "load-refresh")
      t.setDaemon(true)
      t
    }
    val connection = DriverManager.getConnection(config.getString("db.url"), "postgres", "")
    timer.scheduleWithFixedDelay(() => {
      val t = Trace.now
      try {
        val s = connection.createStatement()
        try s.execute(statement) finally s.close()
      } catch { case e: Exception => System.err.println(e) }
      Trace.add("refresh", t)
    }, every, every, TimeUnit.MILLISECONDS)

    // warm up before the first real request
    val base = s"http://127.0.0.1:$port/carparks/"
    def ask(r: HttpRequest): Unit =
      Await.result(Http().singleRequest(r).flatMap(_.discardEntityBytes().future()), 30.seconds)
    for (i <- 1 to 400) {
      val id = i % 40 + 1
      ask(HttpRequest(uri = base + id + "/load"))
      ask(HttpRequest(uri = base + id + "/tariff"))
      if (i % 2 == 0)
        ask(HttpRequest(HttpMethods.POST, base + id + "/entries",
          entity = HttpEntity(ContentTypes.`application/json`, s"""{"n": $i}""")))
    }
    ready = true
  }
}

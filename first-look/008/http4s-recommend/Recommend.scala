package recommend

import cats.effect.*
import com.comcast.ip4s.*
import io.circe.Codec
import io.circe.syntax.*
import org.http4s.*
import org.http4s.circe.CirceEntityEncoder.*
import org.http4s.dsl.io.*
import org.http4s.ember.server.EmberServerBuilder
import scala.concurrent.duration.*
import scala.util.Random

case class Pick(item: Int, score: Double) derives Codec.AsObject

object Recommend extends IOApp.Simple:
  val rnd = Random(1)
  val items = Vector.fill(1200)(Vector.fill(12)(rnd.nextDouble()))
  val users = Vector.fill(300)(Vector.fill(12)(rnd.nextDouble()))

  def picks(user: Int): Vector[Pick] =
    val u = users(user % users.size)
    items.zipWithIndex
      .map((v, i) => Pick(i, v.zip(u).map(_ * _).sum))
      .sortBy(-_.score).take(20)

  val routes = HttpRoutes.of[IO] {
    case GET -> Root / "health" => Ok("ok")
    case GET -> Root / "recommend" / IntVar(user) => IO(picks(user)).flatMap(Ok(_))
    case GET -> Root / "item" / IntVar(id) => Ok(items(id % items.size).asJson)
  }

  def run = EmberServerBuilder.default[IO]
    .withHost(host"127.0.0.1").withPort(Port.fromString(sys.env("PORT")).get)
    .withHttpApp(routes.orNotFound).withShutdownTimeout(1.second).build.useForever

package vouchers

import zio.*
import zio.http.*

object App extends ZIOAppDefault:
  val fraud = s"http://127.0.0.1:${sys.env("FRAUD_PORT")}"

  def ask(path: String) =
    ZIO.scoped(Client.request(Request.get(fraud + path)).flatMap(_.body.asString))

  // the fraud service asks its customers to keep the number of parallel calls small
  def routes(places: Semaphore) = Routes(
    Method.GET / "health" -> handler(Response.text("ok")),
    Method.GET / "voucher" / long("id") -> handler { (id: Long, _: Request) =>
      places.withPermit(ask(s"/score/$id"))
        .map(s => Response.json(s"""{"voucher":$id,"score":$s,"valid":${s.toInt < 90}}""")).orDie
    },
    Method.GET / "batch" / long("id") -> handler { (id: Long, _: Request) =>
      places.withPermit(ask(s"/review/$id")).map(r => Response.json(s"""{"batch":$id,"review":$r}""")).orDie
    },
    Method.GET / "printed" / long("id") -> handler { (id: Long, _: Request) =>
      Response.json((1 to 60).map(n => s"""{"code":"V-$id-${n * 7919}","euro":${n % 9 * 5}}""").mkString("[", ",", "]"))
    },
  )

  val run = for
    args <- getArgs
    places <- Semaphore.make(sys.env.getOrElse("FRAUD_PARALLEL", "32").toLong)
    _ <- Server.serve(routes(places)).provide(Client.default, Server.defaultWith(_.binding("127.0.0.1", args.head.toInt)))
  yield ()

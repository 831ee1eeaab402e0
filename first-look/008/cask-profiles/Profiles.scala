package profiles

import io.undertow.Undertow
import redis.clients.jedis.*
import scala.jdk.CollectionConverters.*

object Profiles extends cask.MainRoutes:
  override def host = "127.0.0.1"
  override def port = sys.env("PORT").toInt
  override def verbose = false

  val redis = JedisPooled("127.0.0.1", sys.env("REDIS_PORT").toInt)

  @cask.get("/health")
  def health() = redis.ping()

  @cask.get("/profile/:id")
  def profile(id: String) =
    ujson.Obj.from(redis.hgetAll(s"profile:$id").asScala.map((k, v) => k -> ujson.Str(v)))

  // agents ask for the next job of their queue and wait for it up to 0.3 s
  @cask.get("/jobs/:queue")
  def next(queue: String) =
    Option(redis.blpop(0.3, s"jobs:$queue")) match
      case Some(job) => ujson.Obj("job" -> job.getValue)
      case None => ujson.Obj("job" -> ujson.Null)

  initialize()

  override def main(args: Array[String]): Unit =
    for i <- 0 until 500 do redis.hset(s"profile:$i", Map("name" -> s"user $i", "mail" -> s"u$i@example.org", "plan" -> "basic").asJava)
    Undertow.builder.addHttpListener(port, host).setWorkerThreads(64).setHandler(defaultHandler).build.start()

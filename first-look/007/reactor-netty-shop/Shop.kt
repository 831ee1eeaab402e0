import reactor.core.publisher.Mono
import reactor.netty.http.client.HttpClient
import reactor.netty.http.server.HttpServer
import reactor.netty.resources.ConnectionProvider
import reactor.util.retry.Retry
import java.time.Duration

class Unavailable(status: Int) : RuntimeException("status $status")

fun main() {
    val env = System.getenv()
    val pool = ConnectionProvider.builder("warehouse")
        .maxConnections((env["WAREHOUSE_CONNECTIONS"] ?: "50").toInt())
        .pendingAcquireMaxCount(500)
        .build()
    val warehouse = HttpClient.create(pool).baseUrl(env["WAREHOUSE_URL"]!!)

    fun call(path: String): Mono<String> = warehouse.get().uri(path)
        .responseSingle { res, body ->
            if (res.status().code() == 503) body.asString().defaultIfEmpty("").flatMap { Mono.error(Unavailable(503)) }
            else body.asString()
        }

    HttpServer.create().host("127.0.0.1").port(env["PORT"]!!.toInt())
        .route { r ->
            r.get("/health") { _, res -> res.sendString(Mono.just("ok")) }
            r.get("/stock/{sku}") { req, res ->
                res.header("Content-Type", "application/json").sendString(
                    call("/stock/${req.param("sku")}")
                        .retryWhen(Retry.backoff(5, Duration.ofMillis(100)).filter { it is Unavailable })
                )
            }
            r.get("/forecast/{sku}") { req, res ->
                res.header("Content-Type", "application/json").sendString(call("/forecast/${req.param("sku")}"))
            }
        }
        .bindNow().onDispose().block()
}

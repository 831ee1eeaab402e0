import io.ktor.client.HttpClient
import io.ktor.client.engine.cio.CIO
import io.ktor.client.request.post
import io.ktor.client.request.setBody
import io.ktor.client.statement.bodyAsText
import io.ktor.http.ContentType
import io.ktor.server.application.call
import io.ktor.server.engine.embeddedServer
import io.ktor.server.netty.Netty
import io.ktor.server.response.respondText
import io.ktor.server.routing.get
import io.ktor.server.routing.post
import io.ktor.server.routing.routing
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock

class Baskets(private val payments: String) {
    private val mutex = Mutex()
    private val items = HashMap<String, MutableList<String>>()
    private val client = HttpClient(CIO)

    suspend fun show(id: String): String = mutex.withLock {
        val list = items.getOrPut(id) { mutableListOf("tea", "cup") }
        list.joinToString(",", "{\"items\":\"", "\"}")
    }

    suspend fun checkout(id: String): String = mutex.withLock {
        val paid = client.post("$payments/charge") { setBody("basket=$id") }.bodyAsText()
        items.remove(id)
        paid
    }
}

fun main() {
    val baskets = Baskets(System.getenv("PAYMENTS"))
    embeddedServer(Netty, port = System.getenv("PORT").toInt(), host = "127.0.0.1") {
        routing {
            get("/health") { call.respondText("ok") }
            get("/basket/{id}") {
                call.respondText(baskets.show(call.parameters["id"]!!), ContentType.Application.Json)
            }
            post("/basket/{id}/checkout") {
                call.respondText(baskets.checkout(call.parameters["id"]!!), ContentType.Application.Json)
            }
        }
    }.start(wait = true)
}

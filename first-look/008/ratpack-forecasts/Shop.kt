import okhttp3.*
import ratpack.exec.Promise
import ratpack.handling.Context
import ratpack.server.RatpackServer
import java.io.IOException
import java.net.InetAddress
import java.time.Duration

val supplier: String = System.getenv("SUPPLIER")
val http: OkHttpClient = OkHttpClient.Builder().callTimeout(Duration.ofSeconds(5)).build()

fun fetch(path: String): Promise<String> = Promise.async { down ->
    http.newCall(Request.Builder().url(supplier + path).build()).enqueue(object : Callback {
        override fun onFailure(call: Call, e: IOException) = down.error(e)
        override fun onResponse(call: Call, response: Response) = response.use { down.success(it.body!!.string()) }
    })
}

fun relay(ctx: Context, path: String) = fetch(path).then { ctx.response.contentType("application/json").send(it) }

fun main() {
    RatpackServer.start { server ->
        server.serverConfig { it.port(System.getenv("PORT").toInt()).address(InetAddress.getByName("127.0.0.1")).development(false) }
        server.handlers { chain ->
            chain.get("health") { it.render("ok") }
                .get("price/:sku") { relay(it, "/price/" + it.pathTokens["sku"]) }
                .get("forecast/:sku") { relay(it, "/forecast/" + it.pathTokens["sku"]) }
        }
    }
}

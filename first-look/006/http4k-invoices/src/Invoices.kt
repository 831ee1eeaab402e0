import com.github.jknack.handlebars.Handlebars
import org.http4k.core.*
import org.http4k.core.Method.GET
import org.http4k.core.Status.Companion.OK
import org.http4k.routing.bind
import org.http4k.routing.path
import org.http4k.routing.routes
import org.http4k.server.Undertow
import org.http4k.server.asServer

data class Line(val no: Int, val article: String, val quantity: Int, val net: String, val gross: String)
data class Invoice(val number: Int, val customer: String, val lines: List<Line>, val total: String)

fun cents(v: Long) = "%d.%02d".format(v / 100, v % 100)

fun invoice(number: Int): Invoice {
    var total = 0L
    val lines = (1..60).map { no ->
        val price = (number * 31L + no * 977L) % 9000 + 100
        val quantity = 1 + (number + no) % 7
        total += price * quantity * 119 / 100
        Line(no, "Article ${(number * 17 + no) % 5000} <blue & white>", quantity, cents(price * quantity), cents(price * quantity * 119 / 100))
    }
    return Invoice(number, "Customer ${number % 800}", lines, cents(total))
}

fun main() {
    val page = Handlebars().compile("Invoice")
    val app = routes(
        "/invoices/{number}" bind GET to { req ->
            Response(OK).header("Content-Type", "text/html; charset=utf-8").body(page.apply(invoice(req.path("number")!!.toInt())))
        },
        "/invoices/{number}/total" bind GET to { req -> Response(OK).body(invoice(req.path("number")!!.toInt()).total) },
        "/ready" bind GET to { Response(OK).body("ok") }
    )
    app.asServer(Undertow(System.getenv("PORT").toInt())).start()
}

package orders

import fi.iki.elonen.NanoHTTPD
import org.jetbrains.exposed.dao.IntEntity
import org.jetbrains.exposed.dao.IntEntityClass
import org.jetbrains.exposed.dao.id.EntityID
import org.jetbrains.exposed.dao.id.IntIdTable
import org.jetbrains.exposed.dao.with
import org.jetbrains.exposed.sql.Database
import org.jetbrains.exposed.sql.transactions.transaction
import org.mariadb.jdbc.MariaDbPoolDataSource
import java.net.ServerSocket
import java.net.Socket

object Articles : IntIdTable("articles") {
    val title = varchar("title", 80)
    val cents = integer("cents")
}

object Lines : IntIdTable("order_lines") {
    val order = integer("order_id")
    val article = reference("article_id", Articles)
    val pieces = integer("pieces")
}

class Article(id: EntityID<Int>) : IntEntity(id) {
    companion object : IntEntityClass<Article>(Articles)
    val title by Articles.title
    val cents by Articles.cents
}

class Line(id: EntityID<Int>) : IntEntity(id) {
    companion object : IntEntityClass<Line>(Lines)
    val article by Article referencedOn Lines.article
    val pieces by Lines.pieces
}

class App(port: Int) : NanoHTTPD("127.0.0.1", port) {
    init {
        if (System.getenv("NODELAY") == "1") setServerSocketFactory {
            object : ServerSocket() {
                override fun accept(): Socket = super.accept().also { it.tcpNoDelay = true }
            }
        }
    }

    override fun serve(session: IHTTPSession): Response {
        val part = session.uri.trim('/').split('/')
        return when (part[0]) {
            "health" -> newFixedLengthResponse("ok")
            "article" -> json(transaction {
                Article.findById(part[1].toInt() % 4000 + 1)!!.let { """{"title":"${it.title}","cents":${it.cents}}""" }
            })
            // orders 1-399 are of households (2 lines), 400-499 of shops (70 lines)
            "order" -> json(transaction {
                val lines = Line.find { Lines.order eq part[1].toInt() }.with(Line::article)
                lines.joinToString(",", "[", "]") { """["${it.article.title}",${it.pieces},${it.pieces * it.article.cents}]""" }
            })
            else -> newFixedLengthResponse(Response.Status.NOT_FOUND, "text/plain", "no such page")
        }
    }

    private fun json(text: String) = newFixedLengthResponse(Response.Status.OK, "application/json", text)
}

fun main(args: Array<String>) {
    Database.connect(MariaDbPoolDataSource(
        "jdbc:mariadb://127.0.0.1:${System.getenv("DB_PORT")}/shop?user=root&minPoolSize=12&maxPoolSize=12"))
    App(args[0].toInt()).start(NanoHTTPD.SOCKET_READ_TIMEOUT * 12, false)
}

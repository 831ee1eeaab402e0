import io.muserver.Method
import io.muserver.MuServerBuilder

class Offer(val sku: Long, val score: Double, val label: String)

/** What was computed for the last users who came by, for the mailing job. */
class RecentUsers(private val max: Int) {
    private val map = object : LinkedHashMap<Long, List<Offer>>(1024, 0.75f, true) {
        override fun removeEldestEntry(eldest: MutableMap.MutableEntry<Long, List<Offer>>) = size > max
    }
    @Synchronized fun put(user: Long, offers: List<Offer>) { map[user] = offers }
    @Synchronized fun size() = map.size
}

val catalog = System.getenv("CATALOG")?.toInt() ?: 20000
val recent = RecentUsers(System.getenv("RECENT_USERS")?.toInt() ?: 250)

fun recommend(user: Long): List<Offer> {
    val kept = ArrayList<Offer>()
    var h = user * -0x61c8864680b583ebL
    for (i in 0 until catalog) {
        h = h xor (h ushr 31); h *= -0x4b47d0c5a1a6f2d3L
        val offer = Offer(i.toLong(), ((h ushr 11).toDouble()) / (1L shl 53), "sku-$i")
        if (offer.score > 0.75) kept.add(offer)
    }
    return kept
}

fun main(args: Array<String>) {
    for (u in 0L until 250L) recent.put(-u, recommend(u))      // yesterday's users
    val server = MuServerBuilder.httpServer()
        .withInterface("127.0.0.1").withHttpPort(args[0].toInt())
        .addHandler(Method.GET, "/health") { _, res, _ -> res.write("ok") }
        .addHandler(Method.GET, "/recommend/{user}") { _, res, params ->
            val user = params["user"]!!.toLong()
            val offers = recommend(user)
            recent.put(user, offers)
            res.contentType("application/json")
            res.write(offers.take(20).joinToString(",", "[", "]") { "{\"sku\":${it.sku},\"score\":${it.score},\"label\":\"${it.label}\"}" })
        }
        .start()
    println("listening on ${server.uri()}")
}

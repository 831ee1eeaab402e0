// Bookings of a hotel group: Spring MVC 6 (functional routes) on Tomcat 11, receipts by mail (Angus Mail).
import org.apache.catalina.connector.Connector
import org.apache.catalina.startup.Tomcat
import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.http.MediaType
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext
import org.springframework.web.servlet.DispatcherServlet
import org.springframework.web.servlet.config.annotation.EnableWebMvc
import org.springframework.web.servlet.function.ServerResponse
import org.springframework.web.servlet.function.router
import java.io.File
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.util.logging.Level
import java.util.logging.Logger

val bookings = Bookings()

@Configuration
@EnableWebMvc
open class Web {
    @Bean
    open fun mailer(): Mailer = Mailer(
        System.getenv("SMTP_PORT").toInt(),
        System.getenv("SMTP_NODELAY") == "true",
    )

    @Bean
    open fun routes(mailer: Mailer) = router {
        GET("/health") { ServerResponse.ok().contentType(MediaType.TEXT_PLAIN).body("ok") }
        GET("/bookings/{id}") { request ->
            val booking = bookings[request.pathVariable("id").toInt()]
            if (booking == null) ServerResponse.notFound().build() else ServerResponse.ok().body(booking.summary())
        }
        POST("/bookings/{id}/receipt") { request ->
            val booking = bookings[request.pathVariable("id").toInt()]
            if (booking == null) {
                ServerResponse.notFound().build()
            } else {
                val ask = request.body(Map::class.java)
                val taken = mailer.send(
                    "guest-${booking.id}@example.net", "Your stay in ${booking.hotel}", Receipt.html(booking, ask["lang"].toString()),
                )
                ServerResponse.ok().body(mapOf("booking" to booking.id, "relay" to taken))
            }
        }
    }
}

/** Asks this server for bookings and receipts, over a port of its own, until the code is compiled. */
fun warmUp(port: Int) {
    val client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()
    fun ask(builder: HttpRequest.Builder) = client.send(builder.build(), HttpResponse.BodyHandlers.discarding())
    repeat(700) {
        val booking = "http://127.0.0.1:$port/bookings/${it % 350}"
        ask(HttpRequest.newBuilder(URI.create(booking)))
        if (it % 2 == 0) {
            ask(
                HttpRequest.newBuilder(URI.create("$booking/receipt")).header("content-type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString("{\"lang\": \"en\"}")),
            )
        }
    }
}

fun connector(port: Int) = Connector().also {
    it.port = port
    it.setProperty("address", "127.0.0.1")
    it.setProperty("maxKeepAliveRequests", "-1")
    it.setProperty("minSpareThreads", "20")
}

fun main() {
    Logger.getLogger("org").level = Level.WARNING
    val base = File(System.getProperty("java.io.tmpdir"))
    val tomcat = Tomcat()
    tomcat.setBaseDir(base.path)
    val spring = AnnotationConfigWebApplicationContext()
    spring.register(Web::class.java)
    val context = tomcat.addContext("", base.path)
    val wrapper = Tomcat.addServlet(context, "spring", DispatcherServlet(spring))
    wrapper.loadOnStartup = 1
    context.addServletMappingDecoded("/", "spring")
    val inner = connector(0)
    tomcat.setConnector(inner)
    tomcat.start()
    warmUp(inner.localPort)
    tomcat.service.removeConnector(inner)
    tomcat.service.addConnector(connector(System.getenv("PORT").toInt()))
    tomcat.server.await()
}

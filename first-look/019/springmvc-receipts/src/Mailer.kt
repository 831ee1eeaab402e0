import jakarta.mail.Message
import jakarta.mail.Session
import jakarta.mail.internet.InternetAddress
import jakarta.mail.internet.MimeMessage
import org.eclipse.angus.mail.smtp.SMTPTransport
import java.io.FileWriter
import java.io.PrintWriter
import java.net.InetAddress
import java.net.Socket
import java.util.Properties
import java.util.concurrent.LinkedBlockingDeque
import javax.net.SocketFactory

/** Sends mails to the relay over SMTP connections that stay open (a few, taken in turn). */
class Mailer(port: Int, noDelay: Boolean) {
    private val session: Session
    private val idle = LinkedBlockingDeque<SMTPTransport>()
    private val from = InternetAddress("front-desk@example.net")
    private val timing = System.getenv("TIMING_LOG")?.let { PrintWriter(FileWriter(it), true) }

    init {
        val properties = Properties()
        properties["mail.smtp.host"] = "127.0.0.1"
        properties["mail.smtp.port"] = port.toString()
        properties["mail.smtp.localhost"] = "bookings.test"
        if (noDelay) {
            properties["mail.smtp.socketFactory"] = NoDelaySockets()
        }
        session = Session.getInstance(properties)
        repeat(6) {
            val transport = session.getTransport("smtp") as SMTPTransport
            transport.connect()
            idle.add(transport)
        }
    }

    fun send(to: String, subject: String, html: String): String {
        val message = MimeMessage(session)
        message.setFrom(from)
        message.setRecipient(Message.RecipientType.TO, InternetAddress(to))
        message.subject = subject
        message.setContent(html, "text/html; charset=utf-8")
        message.saveChanges()
        val asked = System.nanoTime()
        val transport = idle.takeFirst()
        val start = System.nanoTime()
        try {
            transport.sendMessage(message, message.allRecipients)
            return transport.lastServerResponse.trim()
        } finally {
            idle.addFirst(transport)
            timing?.printf("%d send %.1f %d wait %.1f%n", System.currentTimeMillis(),
                (System.nanoTime() - start) / 1e6, html.length, (start - asked) / 1e6)
        }
    }

    private class NoDelaySockets : SocketFactory() {
        private fun open(connect: (Socket) -> Unit) = Socket().also { it.tcpNoDelay = true; connect(it) }
        override fun createSocket(): Socket = open { }
        override fun createSocket(host: String, port: Int) = open { it.connect(java.net.InetSocketAddress(host, port)) }
        override fun createSocket(host: InetAddress, port: Int) = open { it.connect(java.net.InetSocketAddress(host, port)) }
        override fun createSocket(host: String, port: Int, local: InetAddress, localPort: Int) = createSocket(host, port)
        override fun createSocket(host: InetAddress, port: Int, local: InetAddress, localPort: Int) = createSocket(host, port)
    }
}

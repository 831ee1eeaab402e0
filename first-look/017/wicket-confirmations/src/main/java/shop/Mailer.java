package shop;

import java.io.FileWriter;
import java.util.Properties;
import javax.activation.DataHandler;
import javax.mail.Message;
import javax.mail.MessagingException;
import javax.mail.Session;
import javax.mail.Transport;
import javax.mail.internet.InternetAddress;
import javax.mail.internet.MimeBodyPart;
import javax.mail.internet.MimeMessage;
import javax.mail.internet.MimeMultipart;
import javax.mail.util.ByteArrayDataSource;
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericObjectPool;

/** Sends mails through the relay; connections to it are kept. */
public class Mailer {
    private final Session session;
    private final GenericObjectPool<Transport> transports;
    private final FileWriter timing;

    Mailer() {
        Properties p = new Properties();
        p.put("mail.transport.protocol", "smtp");
        p.put("mail.smtp.host", "127.0.0.1");
        p.put("mail.smtp.port", System.getenv().getOrDefault("RELAY_PORT", "25"));
        p.put("mail.smtp.localhost", "shop");
        if ("yes".equals(System.getenv("MAIL_NODELAY"))) {
            p.put("mail.smtp.socketFactory", new NoDelaySocketFactory());
        }
        session = Session.getInstance(p);
        transports = new GenericObjectPool<>(new BasePooledObjectFactory<>() {
            @Override
            public Transport create() throws Exception {
                Transport transport = session.getTransport();
                transport.connect();
                return transport;
            }

            @Override
            public PooledObject<Transport> wrap(Transport transport) {
                return new DefaultPooledObject<>(transport);
            }

            @Override
            public void destroyObject(PooledObject<Transport> pooled) throws Exception {
                pooled.getObject().close();
            }
        });
        transports.setMaxTotal(24);
        transports.setMaxIdle(24);
        String log = System.getenv("TIMING_LOG");
        try {
            timing = log == null ? null : new FileWriter(log, true);
            transports.addObjects(4);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    String confirm(Order order) throws Exception {
        MimeMessage message = message(order, "Your order " + order.id);
        String text = text(order, "Thank you for your order. We send you:");
        if (order.business) {
            MimeBodyPart body = new MimeBodyPart();
            body.setText(text, "utf-8");
            MimeBodyPart invoice = new MimeBodyPart();
            invoice.setDataHandler(new DataHandler(new ByteArrayDataSource(order.invoice(), "application/pdf")));
            invoice.setFileName("invoice-" + order.id + ".pdf");
            message.setContent(new MimeMultipart(body, invoice));
        } else {
            message.setText(text, "utf-8");
        }
        return send(message, order.business ? "invoice" : "plain");
    }

    String remind(Order order) throws Exception {
        MimeMessage message = message(order, "Your order " + order.id + " is not paid yet");
        message.setText(text(order, "Please remember to pay for:"), "utf-8");
        return send(message, "reminder");
    }

    private MimeMessage message(Order order, String subject) throws MessagingException {
        MimeMessage message = new MimeMessage(session);
        message.setFrom("orders@shop.example.org");
        message.setRecipient(Message.RecipientType.TO, new InternetAddress(order.mail));
        message.setSubject(subject, "utf-8");
        return message;
    }

    private static String text(Order order, String first) {
        StringBuilder text = new StringBuilder(first).append("\r\n\r\n");
        for (Order.Line line : order.lines) {
            text.append(String.format("%3d x %-30s %8.2f EUR\r\n", line.count(), line.name(), line.cents() / 100.0));
        }
        return text.append(String.format("\r\nTotal %.2f EUR\r\n", order.total() / 100.0)).toString();
    }

    private String send(MimeMessage message, String kind) throws Exception {
        message.saveChanges();
        long start = System.nanoTime();
        Transport transport = transports.borrowObject();
        long got = System.nanoTime();
        boolean ok = false;
        try {
            transport.sendMessage(message, message.getAllRecipients());
            ok = true;
        } finally {
            if (ok) {
                transports.returnObject(transport);
            } else {
                transports.invalidateObject(transport);
            }
        }
        if (timing != null) {
            synchronized (timing) {
                timing.write(String.format("%s pool %.1f send %.1f%n", kind, (got - start) / 1e6, (System.nanoTime() - got) / 1e6));
                timing.flush();
            }
        }
        return message.getMessageID().replaceAll("[<>]", "");
    }
}

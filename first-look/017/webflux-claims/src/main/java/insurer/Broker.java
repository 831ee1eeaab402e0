package insurer;

import jakarta.jms.Connection;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import org.apache.activemq.ActiveMQConnectionFactory;
import org.apache.activemq.broker.BrokerService;

/** ActiveMQ on one port, with the back office's consumers: Broker PORT. */
public class Broker {
    public static void main(String[] args) throws Exception {
        BrokerService broker = new BrokerService();
        broker.setBrokerName("claims");
        broker.setPersistent(false);
        broker.setUseJmx(false);
        broker.addConnector("tcp://127.0.0.1:" + args[0] + "?maximumConnections=1000");
        broker.start();
        broker.waitUntilStarted();
        Connection connection = new ActiveMQConnectionFactory("vm://claims?create=false").createConnection();
        for (String queue : new String[] {"claims.review", "claims.reserve", "audit", "statistics", "letters"}) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer consumer = session.createConsumer(session.createQueue(queue));
            consumer.setMessageListener(message -> { });
        }
        connection.start();
        broker.waitUntilStopped();
    }
}

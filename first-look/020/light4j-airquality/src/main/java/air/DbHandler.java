package air;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.handler.LightHttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import java.sql.Connection;

/** A handler that works with the database, on a worker thread. */
abstract class DbHandler implements LightHttpHandler {

    static final ObjectMapper JSON = new ObjectMapper();

    abstract Object answer(HttpServerExchange exchange, Connection c) throws Exception;

    @Override
    public void handleRequest(HttpServerExchange exchange) throws Exception {
        if (exchange.isInIoThread()) {
            exchange.dispatch(this);
            return;
        }
        exchange.startBlocking();
        long t = System.currentTimeMillis();
        Object answer;
        try (Connection c = Database.pool.getConnection()) {
            answer = answer(exchange, c);
        }
        Database.note(getClass().getSimpleName(), t);
        if (answer == null) {
            exchange.setStatusCode(404);
            answer = "no such station";
        }
        exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
        exchange.getResponseSender().send(JSON.writeValueAsString(answer));
    }

    static int station(HttpServerExchange exchange) {
        return Integer.parseInt(exchange.getQueryParameters().get("station").getFirst());
    }
}

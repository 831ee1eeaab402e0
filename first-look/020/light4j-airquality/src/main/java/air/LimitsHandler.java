package air;

import com.networknt.handler.LightHttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;

public class LimitsHandler implements LightHttpHandler {
    @Override
    public void handleRequest(HttpServerExchange exchange) {
        exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
        exchange.getResponseSender().send("{\"pm10\":{\"day\":50,\"year\":40},\"no2\":{\"hour\":200,\"year\":40}}");
    }
}

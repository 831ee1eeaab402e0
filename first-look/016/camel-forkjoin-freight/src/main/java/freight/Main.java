package freight;

import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.model.dataformat.JsonLibrary;

public class Main {
    static final boolean TIMING = System.getenv("FREIGHT_TIMING") != null;

    public static void main(String[] args) throws Exception {
        org.apache.camel.main.Main main = new org.apache.camel.main.Main();
        main.addProperty("camel.main.name", "freight");
        main.addProperty("camel.main.shutdown-timeout", "2");
        main.addProperty("camel.server.enabled", "true");
        main.addProperty("camel.server.host", "127.0.0.1");
        main.addProperty("camel.server.port", System.getenv("PORT"));
        main.bind("quotes", new Quotes(System.getenv("PARTNERS_PORT")));
        main.bind("warmup", new Warmup(System.getenv("PORT")));
        main.configure().addRoutesBuilder(new Routes());
        main.run();
    }

    static class Routes extends RouteBuilder {
        @Override
        public void configure() {
            from("platform-http:/health?httpMethodRestrict=GET").bean("warmup", "health");
            from("platform-http:/quote?httpMethodRestrict=GET")
                .bean("quotes", "quote(${header.to}, ${header.kg})").marshal().json(JsonLibrary.Jackson);
            from("platform-http:/board?httpMethodRestrict=GET")
                .bean("quotes", "board").marshal().json(JsonLibrary.Jackson);
            from("platform-http:/tariff?httpMethodRestrict=GET")
                .bean("quotes", "tariff(${header.to})").marshal().json(JsonLibrary.Jackson);
        }
    }
}

import fi.iki.elonen.NanoHTTPD;
import groovy.lang.Binding;
import groovy.util.GroovyScriptEngine;
import java.util.Map;

/** A shop on NanoHTTPD whose pages are Groovy scripts in a folder. */
public class Shop extends NanoHTTPD {
    final GroovyScriptEngine engine;

    Shop(int port, String folder) throws Exception {
        super("127.0.0.1", port);
        engine = new GroovyScriptEngine(folder);
    }

    @Override
    public Response serve(IHTTPSession session) {
        if (session.getUri().equals("/health")) return newFixedLengthResponse("ok\n");
        try {
            Binding b = new Binding(Map.of("page", session.getParms().getOrDefault("p", "0")));
            return newFixedLengthResponse("" + engine.run("page" + session.getParms().getOrDefault("p", "0") + ".groovy", b));
        } catch (Exception e) {
            return newFixedLengthResponse(Response.Status.INTERNAL_ERROR, "text/plain", e + "\n");
        }
    }

    public static void main(String[] args) throws Exception {
        Shop s = new Shop(Integer.parseInt(args[0]), args[1]);
        if (args.length > 2) for (int i = 0; i < Integer.parseInt(args[2]); i++)      // deploy-time preparation
            if (args.length > 3) s.engine.run("page" + i + ".groovy", new Binding(Map.of("page", "" + i)));
            else s.engine.loadScriptByName("page" + i + ".groovy");
        s.start(60000, false);
    }
}

import io.undertow.Undertow;
import io.undertow.server.HttpHandler;
import io.undertow.server.handlers.BlockingHandler;
import io.undertow.server.handlers.PathHandler;
import java.net.HttpURLConnection;
import java.net.URL;

public class App {
    static class Ledger {
        private final String clearing = System.getenv("CLEARING_URL");
        private long balance = 1000;

        synchronized long balance() {
            return balance;
        }

        synchronized long transfer(long amount) throws Exception {
            HttpURLConnection c = (HttpURLConnection) new URL(clearing + "/clear?amount=" + amount).openConnection();
            String ok = new String(c.getInputStream().readAllBytes());
            if (ok.equals("ok")) balance -= amount;
            return balance;
        }
    }

    public static void main(String[] args) {
        Ledger ledger = new Ledger();
        HttpHandler balance = ex -> ex.getResponseSender().send("balance " + ledger.balance());
        HttpHandler transfer = ex -> ex.getResponseSender().send("balance " + ledger.transfer(1));
        Undertow.builder()
            .addHttpListener(Integer.parseInt(args[0]), "127.0.0.1")
            .setWorkerThreads(64)
            .setHandler(new PathHandler()
                .addExactPath("/health", ex -> ex.getResponseSender().send("ok"))
                .addExactPath("/balance", new BlockingHandler(balance))
                .addExactPath("/transfer", new BlockingHandler(transfer)))
            .build().start();
    }
}

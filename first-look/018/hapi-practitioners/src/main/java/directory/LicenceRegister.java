package directory;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** Client of the medical chamber's register of licences. */
final class LicenceRegister {
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(2)).build();
    private final String base;

    LicenceRegister(String base) {
        this.base = base;
    }

    Licence fetch(long practitioner, boolean confirm) {
        try {
            HttpRequest request = HttpRequest.newBuilder(
                    URI.create(base + (confirm ? "/confirm/" : "/licence/") + practitioner)).timeout(Duration.ofSeconds(5)).build();
            String[] fields = http.send(request, HttpResponse.BodyHandlers.ofString()).body().trim().split(";");
            return new Licence(fields[0], fields[1]);
        } catch (Exception e) {
            throw new IllegalStateException("register", e);
        }
    }

    record Licence(String number, String status) {}
}

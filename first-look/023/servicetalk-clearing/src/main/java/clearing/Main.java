package clearing;

import static io.servicetalk.http.api.HttpSerializers.textSerializerUtf8;

import io.servicetalk.http.netty.HttpServers;
import java.net.InetSocketAddress;
import java.nio.file.Path;

public final class Main {
    public static void main(String[] args) throws Exception {
        Jobs jobs = new Jobs(Path.of(args[1]));
        jobs.replay(Integer.parseInt(args[2]));
        HttpServers.forAddress(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])))
                .listenBlockingAndAwait((ctx, request, answers) -> {
                    String[] p = request.path().substring(1).split("/");
                    try {
                        if (p[0].equals("health")) {
                            return answers.ok().payloadBody("ok", textSerializerUtf8());
                        }
                        if (p[0].equals("batches") && p.length == 3) { // POST /batches/N/submit
                            return answers.ok().payloadBody(show(jobs.submit(Integer.parseInt(p[1]))), textSerializerUtf8());
                        }
                        if (p[0].equals("jobs") && p.length == 2) {
                            Job job = jobs.find(Long.parseLong(p[1]));
                            if (job != null) {
                                return answers.ok().payloadBody(show(job), textSerializerUtf8());
                            }
                        }
                        return answers.notFound();
                    } catch (Exception e) {
                        System.err.println(e);
                        return answers.internalServerError();
                    }
                }).awaitShutdown();
    }

    private static String show(Job j) {
        return "{\"job\": " + j.id + ", \"batch\": " + j.batch + ", \"payments\": " + j.summary.payments()
                + ", \"cents\": " + j.summary.cents() + "}\n";
    }
}

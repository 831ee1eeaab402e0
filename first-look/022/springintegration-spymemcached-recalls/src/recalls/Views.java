package recalls;

import java.io.IOException;

import net.spy.memcached.AddrUtil;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.ConnectionFactoryBuilder.Locator;
import net.spy.memcached.ConnectionFactoryBuilder.Protocol;
import net.spy.memcached.DefaultHashAlgorithm;
import net.spy.memcached.FailureMode;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.OperationTimeoutException;

/** How often a device has been shown a recall; a cache node that fails does no harm. */
public class Views implements AutoCloseable {
    private final MemcachedClient client;

    public Views(String ports, long timeout) throws IOException {
        StringBuilder servers = new StringBuilder();
        for (String p : ports.split(",")) {
            servers.append("127.0.0.1:").append(p.trim()).append(' ');
        }
        client = new MemcachedClient(
            new ConnectionFactoryBuilder()
                .setProtocol(Protocol.TEXT)
                .setLocatorType(Locator.CONSISTENT)
                .setHashAlg(DefaultHashAlgorithm.KETAMA_HASH)
                .setFailureMode(FailureMode.Redistribute)
                .setOpTimeout(timeout)
                .setDaemon(true)
                .build(),
            AddrUtil.getAddresses(servers.toString().trim()));
    }

    public int next(int recall, String device) {
        String key = "view:" + recall + ":" + device;
        int before = 0;
        long t = Trace.now();
        try {
            Object v = client.get(key);
            Trace.add(v == null ? "miss" : "hit", t);
            if (v != null) {
                before = Integer.parseInt(v.toString());
            }
        } catch (OperationTimeoutException e) {
            Trace.add("timeout", t);
        }
        client.set(key, 3600, String.valueOf(before + 1));
        return before + 1;
    }

    @Override
    public void close() {
        client.shutdown();
    }
}

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.*;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

public class Bank {
    static final String LEDGER = System.getenv("LEDGER");
    static final Map<String, Double> RATES = new TreeMap<>();

    static class Api extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest req) throws Exception {
            String[] p = req.uri().substring(1).split("/");
            String body = switch (p[0]) {
                case "rates" -> "{\"currency\":\"" + p[1] + "\",\"rate\":" + RATES.getOrDefault(p[1], 1.0) + "}";
                case "statement" -> statement(p[1]);
                default -> "ok";
            };
            var res = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.copiedBuffer(body, StandardCharsets.UTF_8));
            res.headers().set(HttpHeaderNames.CONTENT_TYPE, "application/json").setInt(HttpHeaderNames.CONTENT_LENGTH, res.content().readableBytes());
            ctx.writeAndFlush(res);
        }

        String statement(String account) throws Exception {
            var c = (HttpURLConnection) new URL(LEDGER + "/bookings/" + account).openConnection();
            c.setReadTimeout(3000);
            try (var in = c.getInputStream()) {
                return "{\"account\":\"" + account + "\",\"bookings\":" + new String(in.readAllBytes(), StandardCharsets.UTF_8) + "}";
            }
        }

        @Override public void exceptionCaught(ChannelHandlerContext ctx, Throwable t) { ctx.close(); }
    }

    public static void main(String[] args) throws Exception {
        for (String c : "EUR USD GBP CHF JPY SEK NOK".split(" ")) RATES.put(c, c.hashCode() % 1000 / 500.0);
        var boss = new NioEventLoopGroup(1);
        var workers = new NioEventLoopGroup(2);
        new ServerBootstrap().group(boss, workers).channel(NioServerSocketChannel.class)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override protected void initChannel(SocketChannel ch) {
                    ch.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(65536), new Api());
                }
            }).bind("127.0.0.1", Integer.parseInt(args[0])).sync().channel().closeFuture().sync();
    }
}

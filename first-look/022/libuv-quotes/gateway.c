/* Parcel quotes for the shop front: libuv and http_parser in front, the rates
 * engine behind a ZeroMQ DEALER socket whose descriptor (ZMQ_FD) is watched by
 * the same loop. */
#include <http_parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>
#include <zmq.h>

#define SLOTS 4096
#define ITEMS 8

typedef struct conn {
    uv_tcp_t tcp;
    http_parser parser;
    char url[256];
    size_t url_len;
    uint64_t waiting; /* id of the quote that this connection waits for */
    int keep_alive;
    int closed;
} conn_t;

typedef struct {
    uint64_t id;
    conn_t *conn;
    uint64_t sent_ns;
    int volume, weight;
} pending_t;

typedef struct { int w, h, kg; } item_t;

static uv_loop_t *loop;
static uv_poll_t zmq_poll_handle;
static uv_timer_t sweep_timer;
static void *dealer;
static pending_t pending[SLOTS];
static uint64_t next_id = 1;
static int check_after_send;
static FILE *trace;
static item_t baskets[16][ITEMS];

/* ---- answers ---- */

typedef struct { uv_write_t req; char *data; } write_t;

static void on_closed(uv_handle_t *h) { free(h->data); }

static void conn_close(conn_t *c) {
    if (c->closed) return;
    c->closed = 1;
    if (c->waiting) {
        pending_t *p = &pending[c->waiting % SLOTS];
        if (p->id == c->waiting) p->conn = NULL;
    }
    uv_close((uv_handle_t *)&c->tcp, on_closed);
}

static void on_written(uv_write_t *req, int status) {
    write_t *w = (write_t *)req;
    conn_t *c = req->handle->data;
    if (status < 0 || !c->keep_alive) conn_close(c);
    free(w->data);
    free(w);
}

static void answer(conn_t *c, int code, const char *body) {
    size_t body_len = strlen(body);
    write_t *w = malloc(sizeof *w);
    w->data = malloc(body_len + 256);
    int n = sprintf(w->data,
                    "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                    "Connection: %s\r\n\r\n%s",
                    code, code == 200 ? "OK" : code == 404 ? "Not Found" : "Gateway Timeout", body_len,
                    c->keep_alive ? "keep-alive" : "close", body);
    uv_buf_t buf = uv_buf_init(w->data, n);
    uv_write(&w->req, (uv_stream_t *)&c->tcp, &buf, 1, on_written);
}

/* ---- the rates engine ---- */

static void take_reply(const char *from) {
    uint64_t id = 0;
    char text[512];
    zmq_recv(dealer, &id, sizeof id, 0);
    int n = zmq_recv(dealer, text, sizeof text - 1, 0);
    if (n < 0) return;
    if (n > (int)sizeof text - 1) n = sizeof text - 1;
    text[n] = 0;
    pending_t *p = &pending[id % SLOTS];
    if (p->id != id) return;
    p->id = 0;
    if (trace) {
        fprintf(trace, "%s %.3f\n", from, (uv_hrtime() - p->sent_ns) / 1e6);
        fflush(trace);
    }
    if (!p->conn) return;
    char body[768];
    snprintf(body, sizeof body, "{\"litres\":%d,\"kg\":%d,\"rates\":%s}", p->volume, p->weight, text);
    p->conn->waiting = 0;
    answer(p->conn, 200, body);
}

static void drain(const char *from) {
    for (;;) {
        int events = 0;
        size_t len = sizeof events;
        zmq_getsockopt(dealer, ZMQ_EVENTS, &events, &len);
        if (!(events & ZMQ_POLLIN)) return;
        take_reply(from);
    }
}

static void on_rates_readable(uv_poll_t *h, int status, int events) {
    (void)h; (void)events;
    if (status == 0) drain("poll");
}

/* gives up on quotes that the engine has not answered within 3 s */
static void on_sweep(uv_timer_t *t) {
    (void)t;
    drain("sweep");
    uint64_t now = uv_hrtime();
    for (int i = 0; i < SLOTS; i++) {
        pending_t *p = &pending[i];
        if (p->id && now - p->sent_ns > 3000000000ull) {
            p->id = 0;
            if (p->conn) {
                p->conn->waiting = 0;
                answer(p->conn, 504, "{\"error\":\"no rates\"}");
            }
        }
    }
}

/* ---- packing ---- */

static const int carton_widths[] = {45, 60};

static int shelf_height(const item_t *it, const int *order, int width) {
    int height = 0, shelf = 0, used = 0;
    for (int i = 0; i < ITEMS; i++) {
        const item_t *x = &it[order[i]];
        if (used + x->w > width) {
            height += shelf;
            shelf = used = 0;
        }
        used += x->w;
        if (x->h > shelf) shelf = x->h;
    }
    return height + shelf;
}

/* the lowest carton over all orders of the items (Heap's algorithm) */
static int best_height(const item_t *it, int width) {
    int order[ITEMS], c[ITEMS] = {0};
    for (int i = 0; i < ITEMS; i++) order[i] = i;
    int best = shelf_height(it, order, width);
    for (int i = 0; i < ITEMS;) {
        if (c[i] < i) {
            int j = i % 2 ? c[i] : 0, t = order[j];
            order[j] = order[i];
            order[i] = t;
            int h = shelf_height(it, order, width);
            if (h < best) best = h;
            c[i]++;
            i = 0;
        } else c[i++] = 0;
    }
    return best;
}

static void quote(conn_t *c, int basket) {
    const item_t *it = baskets[basket & 15];
    int kg = 0;
    for (int i = 0; i < ITEMS; i++) kg += it[i].kg;
    int volume = 1 << 30;
    for (size_t i = 0; i < sizeof carton_widths / sizeof *carton_widths; i++) {
        int litres = carton_widths[i] * 40 * best_height(it, carton_widths[i]) / 1000;
        if (litres < volume) volume = litres;
    }
    uint64_t id = next_id++;
    pending_t *p = &pending[id % SLOTS];
    p->id = id;
    p->conn = c;
    p->volume = volume;
    p->weight = kg;
    p->sent_ns = uv_hrtime();
    c->waiting = id;
    char ask[128];
    int n = snprintf(ask, sizeof ask, "%d %d %d", basket, p->volume, kg);
    zmq_send(dealer, &id, sizeof id, ZMQ_SNDMORE | ZMQ_DONTWAIT);
    zmq_send(dealer, ask, n, ZMQ_DONTWAIT);
    if (check_after_send) drain("send");
}

/* ---- HTTP ---- */

static int on_message_begin(http_parser *p) {
    conn_t *c = p->data;
    c->url_len = 0;
    return 0;
}

static int on_url(http_parser *p, const char *at, size_t len) {
    conn_t *c = p->data;
    if (c->url_len + len < sizeof c->url) {
        memcpy(c->url + c->url_len, at, len);
        c->url_len += len;
    }
    return 0;
}

static int on_message_complete(http_parser *p) {
    conn_t *c = p->data;
    c->url[c->url_len] = 0;
    c->keep_alive = http_should_keep_alive(p);
    char body[256];
    if (!strncmp(c->url, "/quotes/", 8)) {
        quote(c, atoi(c->url + 8));
    } else if (!strncmp(c->url, "/zones/", 7)) {
        int z = atoi(c->url + 7);
        snprintf(body, sizeof body, "{\"zone\":%d,\"days\":%d,\"cutoff\":\"%02d:30\"}", z, 1 + z % 4, 14 + z % 5);
        answer(c, 200, body);
    } else if (!strcmp(c->url, "/health")) {
        answer(c, 200, "{\"ok\":true}");
    } else {
        answer(c, 404, "{\"error\":\"not found\"}");
    }
    return 0;
}

static http_parser_settings http_settings;

static void on_alloc(uv_handle_t *h, size_t size, uv_buf_t *buf) {
    (void)h; (void)size;
    static char space[65536];
    *buf = uv_buf_init(space, sizeof space);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf) {
    conn_t *c = s->data;
    if (n < 0) { conn_close(c); return; }
    if (n == 0) return;
    size_t parsed = http_parser_execute(&c->parser, &http_settings, buf->base, n);
    if (parsed != (size_t)n) conn_close(c);
}

static void on_connection(uv_stream_t *server, int status) {
    if (status < 0) return;
    conn_t *c = calloc(1, sizeof *c);
    uv_tcp_init(loop, &c->tcp);
    c->tcp.data = c;
    if (uv_accept(server, (uv_stream_t *)&c->tcp)) { conn_close(c); return; }
    uv_tcp_nodelay(&c->tcp, 1);
    http_parser_init(&c->parser, HTTP_REQUEST);
    c->parser.data = c;
    c->keep_alive = 1;
    uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read);
}

int main(void) {
    const char *port = getenv("PORT"), *rates = getenv("RATES_PORT"), *t = getenv("QUOTES_TRACE");
    const char *check = getenv("CHECK_AFTER_SEND");
    check_after_send = check && atoi(check);
    if (t) trace = fopen(t, "w");
    unsigned seed = 4711;
    for (int b = 0; b < 16; b++)
        for (int i = 0; i < ITEMS; i++) {
            seed = seed * 1103515245u + 12345u;
            baskets[b][i] = (item_t){8 + (seed >> 16) % 25, 5 + (seed >> 20) % 30, 1 + (seed >> 24) % 9};
        }

    char addr[64];
    void *ctx = zmq_ctx_new();
    dealer = zmq_socket(ctx, ZMQ_DEALER);
    int linger = 0;
    zmq_setsockopt(dealer, ZMQ_LINGER, &linger, sizeof linger);
    snprintf(addr, sizeof addr, "tcp://127.0.0.1:%s", rates);
    if (zmq_connect(dealer, addr)) { perror("zmq_connect"); return 1; }
    int fd;
    size_t len = sizeof fd;
    zmq_getsockopt(dealer, ZMQ_FD, &fd, &len);

    loop = uv_default_loop();
    uv_poll_init(loop, &zmq_poll_handle, fd);
    uv_poll_start(&zmq_poll_handle, UV_READABLE, on_rates_readable);
    uv_timer_init(loop, &sweep_timer);
    uv_timer_start(&sweep_timer, on_sweep, 80, 80);

    http_settings.on_message_begin = on_message_begin;
    http_settings.on_url = on_url;
    http_settings.on_message_complete = on_message_complete;

    uv_tcp_t server;
    struct sockaddr_in sa;
    uv_ip4_addr("127.0.0.1", atoi(port), &sa);
    uv_tcp_init(loop, &server);
    uv_tcp_bind(&server, (struct sockaddr *)&sa, 0);
    if (uv_listen((uv_stream_t *)&server, 256, on_connection)) { fprintf(stderr, "cannot listen\n"); return 1; }
    return uv_run(loop, UV_RUN_DEFAULT);
}

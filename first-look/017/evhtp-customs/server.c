/* Order intake. Orders that leave the customs union are announced on the topic "customs.declarations"
 * and are confirmed to the shop only when the broker has acknowledged the declaration. */
#include <evhtp/evhtp.h>
#include <event2/event.h>
#include <event2/thread.h>
#include <librdkafka/rdkafka.h>
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct pending {
    TAILQ_ENTRY(pending) next;
    evhtp_request_t *req;
    int customer, answered;
    long order;
    double since;
    rd_kafka_resp_err_t err;
};

static TAILQ_HEAD(, pending) acknowledged = TAILQ_HEAD_INITIALIZER(acknowledged);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct event *wakeup;
static rd_kafka_t *producer;
static int timing;
static long orders[1000];
static long last_order;

/* customers with a delivery address outside of the customs union */
static const int abroad[] = { 41, 117, 260, 388, 512, 733 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void answer(evhtp_request_t *req, int status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    evbuffer_add_vprintf(req->buffer_out, fmt, ap);
    va_end(ap);
    evhtp_headers_add_header(req->headers_out, evhtp_header_new("Content-Type", "application/json", 0, 0));
    evhtp_send_reply(req, status);
}

/* called in the thread that polls the producer */
static void delivered(rd_kafka_t *rk, const rd_kafka_message_t *m, void *arg)
{
    struct pending *p = m->_private;
    (void)rk; (void)arg;
    if (!p)
        return;
    p->err = m->err;
    if (timing)
        fprintf(stderr, "declaration acknowledged after %.1f ms\n", now_ms() - p->since);
    pthread_mutex_lock(&lock);
    TAILQ_INSERT_TAIL(&acknowledged, p, next);
    pthread_mutex_unlock(&lock);
    event_active(wakeup, EV_READ, 0);
}

static int statistics(rd_kafka_t *rk, char *json, size_t len, void *arg)
{
    (void)rk; (void)arg;
    fprintf(stderr, "STATS %.*s\n", (int)len, json);
    return 0;
}

static void *poll_producer(void *arg)
{
    (void)arg;
    for (;;)
        rd_kafka_poll(producer, 1000);
    return NULL;
}

static void finish(evutil_socket_t fd, short what, void *arg)
{
    struct pending *p;
    (void)fd; (void)what; (void)arg;
    for (;;) {
        pthread_mutex_lock(&lock);
        if ((p = TAILQ_FIRST(&acknowledged)))
            TAILQ_REMOVE(&acknowledged, p, next);
        pthread_mutex_unlock(&lock);
        if (!p)
            return;
        if (p->req) {
            evhtp_request_t *req = p->req;
            p->answered = 1;    /* from here on gone() frees it */
            if (p->err)
                answer(req, 502, "{\"error\":\"%s\"}", rd_kafka_err2name(p->err));
            else
                answer(req, 201, "{\"order\":%ld,\"customer\":%d,\"declared\":true}", p->order, p->customer);
            evhtp_request_resume(req);
        } else
            free(p);
    }
}

static evhtp_res gone(evhtp_request_t *req, void *arg)
{
    struct pending *p = arg;
    (void)req;
    if (p->answered)
        free(p);
    else
        p->req = NULL;
    return EVHTP_RES_OK;
}

static void on_order(evhtp_request_t *req, void *arg)
{
    char body[256] = "";
    int customer = atoi(req->uri->path->file ? req->uri->path->file : ""), n = 1;
    const char *q;
    (void)arg;
    if (customer < 1 || customer > 999) {
        answer(req, 404, "{}");
        return;
    }
    if (evhtp_request_get_method(req) == htp_method_GET) {
        answer(req, 200, "{\"customer\":%d,\"ordered\":%ld}", customer, orders[customer]);
        return;
    }
    evbuffer_copyout(req->buffer_in, body, sizeof body - 1);
    if ((q = strstr(body, "\"quantity\":")))
        n = atoi(q + 11);
    orders[customer] += n;
    last_order++;
    for (size_t i = 0; i < sizeof abroad / sizeof *abroad; i++)
        if (abroad[i] == customer) {
            struct pending *p = calloc(1, sizeof *p);
            char msg[200];
            int len = snprintf(msg, sizeof msg, "{\"order\":%ld,\"customer\":%d,\"quantity\":%d,\"office\":\"DE004600\"}", last_order, customer, n);
            p->req = req;
            p->customer = customer;
            p->order = last_order;
            p->since = now_ms();
            if (rd_kafka_producev(producer, RD_KAFKA_V_TOPIC("customs.declarations"), RD_KAFKA_V_VALUE(msg, len),
                                  RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_OPAQUE(p), RD_KAFKA_V_END)) {
                free(p);
                answer(req, 503, "{\"error\":\"queue full\"}");
                return;
            }
            evhtp_request_set_hook(req, evhtp_hook_on_request_fini, (evhtp_hook)gone, p);
            evhtp_request_pause(req);
            return;
        }
    answer(req, 201, "{\"order\":%ld,\"customer\":%d}", last_order, customer);
}

static void on_health(evhtp_request_t *req, void *arg)
{
    (void)arg;
    answer(req, 200, "{\"ok\":true}");
}

/* the registry tells which brokers there are */
static void ask_brokers(int port, char *list, size_t size)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int s = socket(AF_INET, SOCK_STREAM, 0);
    ssize_t n = 0, got;
    if (connect(s, (struct sockaddr *)&a, sizeof a)) { perror("registry"); exit(1); }
    while ((got = read(s, list + n, size - 1 - n)) > 0)
        n += got;
    list[n] = 0;
    close(s);
}

int main(void)
{
    char brokers[512], err[512];
    struct event_base *base;
    evhtp_t *htp;
    pthread_t t;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    signal(SIGPIPE, SIG_IGN);
    timing = getenv("ORDERS_TIMING") != NULL;
    ask_brokers(atoi(getenv("REGISTRY_PORT")), brokers, sizeof brokers);
    rd_kafka_conf_set(conf, "bootstrap.servers", brokers, err, sizeof err);
    rd_kafka_conf_set(conf, "acks", "all", err, sizeof err);
    rd_kafka_conf_set(conf, "enable.idempotence", "true", err, sizeof err);
    if (rd_kafka_conf_set(conf, "linger.ms", getenv("LINGER_MS"), err, sizeof err)) { fprintf(stderr, "%s\n", err); return 1; }
    if (timing) {
        rd_kafka_conf_set(conf, "statistics.interval.ms", "5000", err, sizeof err);
        rd_kafka_conf_set_stats_cb(conf, statistics);
    }
    rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    if (!(producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, err, sizeof err))) { fprintf(stderr, "%s\n", err); return 1; }

    rd_kafka_producev(producer, RD_KAFKA_V_TOPIC("customs.declarations"), RD_KAFKA_V_VALUE("{\"started\":true}", 16),
                      RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
    if (rd_kafka_flush(producer, 20000)) { fprintf(stderr, "no broker\n"); return 1; }

    evthread_use_pthreads();
    base = event_base_new();
    wakeup = event_new(base, -1, EV_PERSIST, finish, NULL);
    pthread_create(&t, NULL, poll_producer, NULL);
    htp = evhtp_new(base, NULL);
    evhtp_set_cb(htp, "/health/", on_health, NULL);
    evhtp_set_glob_cb(htp, "/orders/*", on_order, NULL);
    if (evhtp_bind_socket(htp, "127.0.0.1", atoi(getenv("PORT")), 256)) { perror("bind"); return 1; }
    event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);
    return 0;
}

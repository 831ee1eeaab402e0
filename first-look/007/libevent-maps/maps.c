/* maps: tiles, places and printable atlases over libevent's evhttp. */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define SIDE 512
static unsigned char heights[SIDE * SIDE * 6];
static struct event_base *base;
static unsigned short geocoder_port;

static const char *param(struct evhttp_request *req, struct evkeyvalq *q, const char *name) {
    const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(req));
    evhttp_parse_query_str(query ? query : "", q);
    const char *v = evhttp_find_header(q, name);
    return v ? v : "0";
}

static void answer(struct evhttp_request *req, const char *type, struct evbuffer *body) {
    evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type", type);
    evhttp_send_reply(req, HTTP_OK, "OK", body);
    evbuffer_free(body);
}

/* one small tile: the heights of 16 x 16 points */
static void tile(struct evhttp_request *req, void *arg) {
    struct evkeyvalq q;
    int n = atoi(param(req, &q, "n"));
    struct evbuffer *body = evbuffer_new();
    for (int y = 0; y < 16; y++)
        for (int x = 0; x < 16; x++)
            evbuffer_add_printf(body, "%d%c", heights[(n * 256 + y * SIDE + x) % sizeof heights], x == 15 ? '\n' : ' ');
    evhttp_clear_headers(&q);
    answer(req, "text/plain", body);
}

/* a sheet of the atlas, compressed for the printer */
static void atlas(struct evhttp_request *req, void *arg) {
    uLongf len = compressBound(sizeof heights);
    unsigned char *out = malloc(len);
    compress2(out, &len, heights, sizeof heights, 6);
    struct evbuffer *body = evbuffer_new();
    evbuffer_add_printf(body, "sheet of %zu points, %lu bytes\n", sizeof heights, (unsigned long)len);
    evbuffer_add(body, out, len > 16384 ? 16384 : len);
    free(out);
    answer(req, "application/octet-stream", body);
}

struct lookup { struct evhttp_request *client; struct evhttp_connection *conn; int id; };

static void located(struct evhttp_request *reply, void *arg) {
    struct lookup *l = arg;
    struct evbuffer *body = evbuffer_new();
    if (reply && evhttp_request_get_response_code(reply) == 200) {
        evbuffer_add_printf(body, "place %d exact ", l->id);
        evbuffer_add_buffer(body, evhttp_request_get_input_buffer(reply));
    } else
        evbuffer_add_printf(body, "place %d approximate %d %d\n", l->id, l->id % 90, l->id % 180);
    answer(l->client, "text/plain", body);
    free(l);
}

/* where a place is: asks the geocoder, or answers from the gazetteer when it does not know in time */
static void place(struct evhttp_request *req, void *arg) {
    struct evkeyvalq q;
    struct lookup *l = malloc(sizeof *l);
    char uri[64];
    struct timeval patience = {0, 250000};
    l->client = req;
    l->id = atoi(param(req, &q, "id"));
    evhttp_clear_headers(&q);
    snprintf(uri, sizeof uri, "/geocode?id=%d", l->id);
    l->conn = evhttp_connection_base_new(base, NULL, "127.0.0.1", geocoder_port);
    evhttp_connection_set_timeout_tv(l->conn, &patience);
    evhttp_connection_free_on_completion(l->conn);
    struct evhttp_request *ask = evhttp_request_new(located, l);
    evhttp_add_header(evhttp_request_get_output_headers(ask), "Host", "geocoder");
    evhttp_add_header(evhttp_request_get_output_headers(ask), "Connection", "close");
    evhttp_make_request(l->conn, ask, EVHTTP_REQ_GET, uri);
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    if (argc > 2) geocoder_port = atoi(argv[2]);
    unsigned s = 7;
    for (size_t i = 0; i < sizeof heights; i++) {
        s = s * 1103515245 + 12345;
        heights[i] = (i / 97 + ((s >> 16) & 7)) & 255;
    }
    base = event_base_new();
    struct evhttp *http = evhttp_new(base);
    evhttp_set_cb(http, "/tile", tile, NULL);
    evhttp_set_cb(http, "/atlas", atlas, NULL);
    evhttp_set_cb(http, "/place", place, NULL);
    if (evhttp_bind_socket(http, "127.0.0.1", atoi(argv[1]))) return 1;
    event_base_dispatch(base);
}

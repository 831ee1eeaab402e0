/* Carts of a web shop: libsoup 3 in front, a pool of threads that ask memcached through libmemcached. */
#include <libsoup/soup.h>
#include <libmemcached/memcached.h>
#include <libmemcachedutil-1.0/util.h>
#include <glib-unix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEN_EVERY (5 * G_USEC_PER_SEC)   /* a cart's "last seen" is renewed at most this often */

static memcached_pool_st *pool;
static GThreadPool *workers;
static gboolean timing;

typedef struct {
    SoupServerMessage *msg;
    char *path;
    char *out;
    guint status;
} Job;

static gboolean answer(gpointer p)
{
    Job *j = p;
    soup_server_message_set_status(j->msg, j->status, NULL);
    soup_server_message_set_response(j->msg, "application/json", SOUP_MEMORY_TAKE, j->out, strlen(j->out));
    soup_server_message_unpause(j->msg);
    g_object_unref(j->msg);
    g_free(j->path);
    g_free(j);
    return G_SOURCE_REMOVE;
}

static char *fetch(memcached_st *mc, const char *key)
{
    size_t len; uint32_t flags; memcached_return_t rc;
    char *v = memcached_get(mc, key, strlen(key), &len, &flags, &rc);
    if (!v) return NULL;
    char *s = g_strndup(v, len);
    free(v);
    return s;
}

static void view_cart(Job *j, memcached_st *mc, const char *id)
{
    gint64 t0 = g_get_monotonic_time(), t1, t2;
    char key[64];
    g_snprintf(key, sizeof key, "cart:%s", id);
    char *cart = fetch(mc, key);
    gint64 seen = cart ? g_ascii_strtoll(cart, NULL, 10) : 0;
    const char *lines = cart && strchr(cart, ' ') ? strchr(cart, ' ') + 1 : "[]";
    t1 = g_get_monotonic_time();
    gboolean stamped = t1 - seen > SEEN_EVERY;
    if (stamped) {
        char *next = g_strdup_printf("%" G_GINT64_FORMAT " %s", t1, lines);
        memcached_set(mc, key, strlen(key), next, strlen(next), 0, 0);
        g_free(next);
    }
    t2 = g_get_monotonic_time();
    char *promo = fetch(mc, "promo:current");
    if (timing)
        fprintf(stderr, "cart stamped=%d get=%.1f set=%.1f promo=%.1f\n", stamped,
                (t1 - t0) / 1e3, (t2 - t1) / 1e3, (g_get_monotonic_time() - t2) / 1e3);
    j->status = promo ? 200 : 502;
    j->out = g_strdup_printf("{\"cart\":\"%s\",\"lines\":%s,\"promo\":\"%s\"}\n", id, lines, promo ? promo : "");
    g_free(promo);
    g_free(cart);
}

static void view_article(Job *j, memcached_st *mc, const char *id)
{
    char key[64];
    g_snprintf(key, sizeof key, "article:%s", id);
    char *a = fetch(mc, key);
    j->status = a ? 200 : 404;
    j->out = g_strdup_printf("{\"article\":\"%s\",\"title\":\"%s\"}\n", id, a ? a : "");
    g_free(a);
}

static void work(gpointer p, gpointer unused)
{
    Job *j = p;
    struct timespec wait = { 5, 0 };
    memcached_return_t rc;
    memcached_st *mc = memcached_pool_fetch(pool, &wait, &rc);
    if (!mc) {
        j->status = 503; j->out = g_strdup("{}\n");
    } else {
        if (g_str_has_prefix(j->path, "/carts/")) view_cart(j, mc, j->path + 7);
        else view_article(j, mc, j->path + 10);
        memcached_pool_release(pool, mc);
    }
    g_main_context_invoke(NULL, answer, j);
}

static void route(SoupServer *s, SoupServerMessage *msg, const char *path, GHashTable *q, gpointer d)
{
    if (strcmp(path, "/health") == 0) {
        soup_server_message_set_status(msg, 200, NULL);
        soup_server_message_set_response(msg, "text/plain", SOUP_MEMORY_STATIC, "ok\n", 3);
        return;
    }
    if (!g_str_has_prefix(path, "/carts/") && !g_str_has_prefix(path, "/articles/")) {
        soup_server_message_set_status(msg, 404, NULL);
        return;
    }
    Job *j = g_new0(Job, 1);
    j->msg = g_object_ref(msg);
    j->path = g_strdup(path);
    soup_server_message_pause(msg);
    g_thread_pool_push(workers, j, NULL);
}

static gboolean stop(gpointer loop) { g_main_loop_quit(loop); return G_SOURCE_REMOVE; }

int main(void)
{
    const char *port = g_getenv("PORT"), *mport = g_getenv("MEMCACHED_PORT"), *nd = g_getenv("MEMCACHED_TCP_NODELAY");
    timing = g_getenv("TIMING") != NULL;
    memcached_st *master = memcached_create(NULL);
    memcached_server_add(master, "127.0.0.1", atoi(mport ? mport : "11211"));
    memcached_behavior_set(master, MEMCACHED_BEHAVIOR_NOREPLY, 1);
    memcached_behavior_set(master, MEMCACHED_BEHAVIOR_TCP_NODELAY, nd && atoi(nd));
    pool = memcached_pool_create(master, 16, 16);

    memcached_return_t rc;
    memcached_st *mc = memcached_pool_fetch(pool, NULL, &rc);
    for (int i = 0; i < 400; i++) {
        char k[64], v[256];
        g_snprintf(k, sizeof k, "article:%d", i);
        g_snprintf(v, sizeof v, "article no. %d, with a title of the usual length", i);
        memcached_set(mc, k, strlen(k), v, strlen(v), 0, 0);
        g_snprintf(k, sizeof k, "cart:%d", i);
        /* carts were seen at different times of the last five seconds */
        g_snprintf(v, sizeof v, "%" G_GINT64_FORMAT " [%d,%d,%d]",
                   g_get_monotonic_time() - g_random_int_range(0, SEEN_EVERY), i, i + 7, i * 3);
        memcached_set(mc, k, strlen(k), v, strlen(v), 0, 0);
    }
    memcached_set(mc, "promo:current", 13, "free delivery from 40 EUR", 25, 0, 0);
    memcached_pool_release(pool, mc);

    workers = g_thread_pool_new(work, NULL, 16, TRUE, NULL);
    SoupServer *server = soup_server_new("server-header", "carts ", NULL);
    soup_server_add_handler(server, NULL, route, NULL, NULL);
    GError *err = NULL;
    GInetAddress *lo = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
    GSocketAddress *addr = g_inet_socket_address_new(lo, atoi(port ? port : "8080"));
    if (!soup_server_listen(server, addr, 0, &err)) { fprintf(stderr, "%s\n", err->message); return 1; }
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    g_unix_signal_add(SIGTERM, stop, loop);
    g_unix_signal_add(SIGINT, stop, loop);
    g_main_loop_run(loop);
    return 0;
}

// A word index behind GNU libmicrohttpd. search.c PORT [fresh]
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS 400000
static pthread_mutex_t index_mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned *words;
static int fresh;

static int cmp(const void *a, const void *b) {
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return x < y ? -1 : x > y;
}
static unsigned *build(unsigned *w) {
    unsigned s = 12345;
    for (int i = 0; i < WORDS; i++) w[i] = s = s * 1664525u + 1013904223u;
    qsort(w, WORDS, sizeof *w, cmp);
    return w;
}
static void reindex(void) {
    if (fresh) {                      // build beside the old one, then exchange
        unsigned *w = build(malloc(WORDS * sizeof *w));
        pthread_mutex_lock(&index_mutex);
        unsigned *old = words;
        words = w;
        pthread_mutex_unlock(&index_mutex);
        free(old);
    } else {
        pthread_mutex_lock(&index_mutex);
        build(words);
        pthread_mutex_unlock(&index_mutex);
    }
}
static int search(unsigned q) {
    int found = 0;
    pthread_mutex_lock(&index_mutex);
    for (unsigned i = 0; i < 200; i++, q = q * 31 + 7) found += bsearch(&q, words, WORDS, sizeof q, cmp) != NULL;
    pthread_mutex_unlock(&index_mutex);
    return found;
}
static enum MHD_Result handle(void *cls, struct MHD_Connection *c, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **ptr) {
    char text[100];
    if (!strcmp(url, "/reindex")) {
        reindex();
        strcpy(text, "indexed\n");
    } else {
        const char *q = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "q");
        snprintf(text, sizeof text, "%d hits\n", search(q ? strtoul(q, NULL, 10) : 1));
    }
    struct MHD_Response *r = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result ok = MHD_queue_response(c, MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return ok;
}
int main(int argc, char **argv) {
    fresh = argc > 2 && !strcmp(argv[2], "fresh");
    words = build(malloc(WORDS * sizeof *words));
    if (!MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD, atoi(argv[1]),
                          NULL, NULL, handle, NULL, MHD_OPTION_END)) return 1;
    for (;;) pause();
}

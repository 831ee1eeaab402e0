#include <civetweb.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* a cache of blobs: of those that were loaded, every second one has expired */
static char **blobs;
static int count, every_ms;

static int blob(struct mg_connection *c, void *u) {
	char *copy[4];
	size_t n = 12000;
	for (int i = 0; i < 4; i++) {
		copy[i] = malloc(n);
		memcpy(copy[i], blobs[(rand() % (count / 2)) * 2], n);
	}
	mg_printf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2000\r\n\r\n");
	mg_write(c, copy[1], 2000);
	for (int i = 0; i < 4; i++)
		free(copy[i]);
	return 200;
}

static int ping(struct mg_connection *c, void *u) {
	mg_printf(c, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n");
	return 200;
}

static void *janitor(void *u) {
	for (;;) {
		usleep(every_ms * 1000);
		malloc_trim(0);
	}
}

int main(int argc, char **argv) {
	const char *opt[] = {"listening_ports", argv[1], "num_threads", "80", "enable_keep_alive", "yes", "keep_alive_timeout_ms", "60000", "tcp_nodelay", "1", NULL};
	pthread_t t;
	count = atoi(argv[2]);
	every_ms = atoi(argv[3]);
	blobs = calloc(count, sizeof *blobs);
	for (int i = 0; i < count; i++) {
		blobs[i] = malloc(12000);
		memset(blobs[i], 'a' + i % 26, 12000);
	}
	for (int i = 1; i < count; i += 2)
		free(blobs[i]);
	struct mg_callbacks cb;
	memset(&cb, 0, sizeof cb);
	struct mg_context *ctx = mg_start(&cb, NULL, opt);
	if (!ctx)
		return 1;
	mg_set_request_handler(ctx, "/blob", blob, NULL);
	mg_set_request_handler(ctx, "/ping", ping, NULL);
	if (every_ms)
		pthread_create(&t, NULL, janitor, NULL);
	pause();
}

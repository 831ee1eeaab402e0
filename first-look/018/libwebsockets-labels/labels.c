/*
 * Shelf labels of a chain of shops, on libwebsockets.
 *
 *   GET  /labels/<sku>   the label as SVG; it is kept until the price changes,
 *                        then a thread of the renderer draws it again
 *   GET  /prices/<sku>   the price of now
 *   POST /prices/<sku>   {"cents": 1299}
 *   GET  /health
 *
 * One thread runs lws_service().  Finished labels come back from the renderer
 * threads over a list that the service thread empties.
 */
#include <libwebsockets.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_SKU 256
#define BODY_MAX 16384

struct product {
	char sku[8];
	int cents;
	unsigned version;        /* goes up with each new price */
	unsigned label_version;  /* the version that the kept label shows */
	char *label;
	size_t label_len;
};

struct job {
	struct job *next;
	struct lws *wsi;         /* NULL: the client has gone */
	struct product *product;
	char sku[8];
	int cents;
	unsigned version;
	char *label;
	size_t label_len;
	double finished;
};

struct session {
	struct job *job;
	struct product *price_of;
	char in[256];
	size_t in_len;
	char *out;
	size_t out_len;
	const char *type;
	int status;
	int head_sent;
};

static struct product products[MAX_SKU];
static int n_products;
static struct lws_context *context;
static volatile sig_atomic_t stopping;

static pthread_mutex_t todo_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t todo_ready = PTHREAD_COND_INITIALIZER;
static struct job *todo_head, *todo_tail;
static pthread_mutex_t done_lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *done_head;

static lws_sorted_usec_list_t housekeeping;
static int housekeeping_ms = 120;
static int wake_service;
static const char *db_path;
static FILE *timing;
static unsigned long drawn, answered;

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static struct product *find_product(const char *sku)
{
	for (int i = 0; i < n_products; i++)
		if (!strcmp(products[i].sku, sku))
			return &products[i];
	return NULL;
}

/* ---- renderer threads ------------------------------------------------- */

static size_t draw_bars(char *out, size_t room, const char *digits)
{
	static const char *l_code[10] = { "0001101", "0011001", "0010011",
		"0111101", "0100011", "0110001", "0101111", "0111011",
		"0110111", "0001011" };
	size_t n = 0;
	int x = 20;

	for (const char *d = digits; *d; d++)
		for (const char *bit = l_code[(*d - '0') % 10]; *bit; bit++, x += 2)
			if (*bit == '1')
				n += (size_t)snprintf(out + n, room - n,
					"<rect x=\"%d\" y=\"90\" width=\"2\" height=\"40\"/>", x);
	return n;
}

static void draw_label(struct job *job, sqlite3_stmt *stmt)
{
	char *out = malloc(BODY_MAX);
	size_t n = 0;

	sqlite3_reset(stmt);
	sqlite3_bind_text(stmt, 1, job->sku, -1, SQLITE_STATIC);
	n += (size_t)snprintf(out, BODY_MAX, "<svg xmlns=\"http://www.w3.org/2000/svg\""
		" width=\"320\" height=\"140\">");
	while (sqlite3_step(stmt) == SQLITE_ROW)
		n += (size_t)snprintf(out + n, BODY_MAX - n,
			"<text x=\"20\" y=\"%d\" font-size=\"%d\">%s</text>",
			sqlite3_column_int(stmt, 0), sqlite3_column_int(stmt, 1),
			(const char *)sqlite3_column_text(stmt, 2));
	n += (size_t)snprintf(out + n, BODY_MAX - n,
		"<text x=\"220\" y=\"60\" font-size=\"28\">%d.%02d</text>",
		job->cents / 100, job->cents % 100);
	char ean[16];
	snprintf(ean, sizeof(ean), "4006381%s", job->sku);
	n += draw_bars(out + n, BODY_MAX - n - 16, ean);
	n += (size_t)snprintf(out + n, BODY_MAX - n, "</svg>\n");
	job->label = out;
	job->label_len = n;
}

static void *renderer(void *arg)
{
	sqlite3 *db;
	sqlite3_stmt *stmt;

	(void)arg;
	if (sqlite3_open_v2(db_path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(db, "SELECT y, size, text FROM label_lines WHERE sku = ?"
			       " ORDER BY y", -1, &stmt, NULL) != SQLITE_OK) {
		fprintf(stderr, "renderer: %s\n", sqlite3_errmsg(db));
		exit(1);
	}
	for (;;) {
		pthread_mutex_lock(&todo_lock);
		while (!todo_head)
			pthread_cond_wait(&todo_ready, &todo_lock);
		struct job *job = todo_head;
		todo_head = job->next;
		pthread_mutex_unlock(&todo_lock);

		draw_label(job, stmt);

		job->finished = now_ms();
		pthread_mutex_lock(&done_lock);
		job->next = done_head;
		done_head = job;
		pthread_mutex_unlock(&done_lock);
		if (wake_service)
			lws_cancel_service(context);
	}
	return NULL;
}

static void start_job(struct lws *wsi, struct session *s, struct product *p)
{
	struct job *job = calloc(1, sizeof(*job));

	job->wsi = wsi;
	job->product = p;
	job->cents = p->cents;
	job->version = p->version;
	memcpy(job->sku, p->sku, sizeof(job->sku));
	s->job = job;
	pthread_mutex_lock(&todo_lock);
	if (todo_head)
		todo_tail->next = job;
	else
		todo_head = job;
	todo_tail = job;
	pthread_cond_signal(&todo_ready);
	pthread_mutex_unlock(&todo_lock);
}

/* ---- service thread --------------------------------------------------- */

static void set_answer(struct session *s, int status, const char *type,
		       const char *text, size_t len)
{
	s->status = status;
	s->type = type;
	s->out = malloc(LWS_PRE + len + 1);
	memcpy(s->out + LWS_PRE, text, len);
	s->out_len = len;
}

static void collect_done(void)
{
	pthread_mutex_lock(&done_lock);
	struct job *job = done_head;
	done_head = NULL;
	pthread_mutex_unlock(&done_lock);

	while (job) {
		struct job *next = job->next;
		struct product *p = job->product;

		drawn++;
		if (timing)
			fprintf(timing, "%.1f %s waited %.2f ms for the service thread\n",
				now_ms(), job->sku, now_ms() - job->finished);
		if (job->wsi) {
			struct session *s = lws_wsi_user(job->wsi);
			s->job = NULL;
			set_answer(s, HTTP_STATUS_OK, "image/svg+xml",
				   job->label, job->label_len);
			lws_callback_on_writable(job->wsi);
		}
		if (job->version >= p->label_version) {
			free(p->label);
			p->label = job->label;
			p->label_len = job->label_len;
			p->label_version = job->version;
		} else
			free(job->label);
		free(job);
		job = next;
	}
}

static void do_housekeeping(lws_sorted_usec_list_t *sul)
{
	(void)sul;
	collect_done();
	if (timing)
		fflush(timing);
	lws_sul_schedule(context, 0, &housekeeping, do_housekeeping,
			 (lws_usec_t)housekeeping_ms * LWS_US_PER_MS);
}

static int send_answer(struct lws *wsi, struct session *s)
{
	uint8_t head[LWS_PRE + 1024], *start = head + LWS_PRE, *p = start,
		*end = head + sizeof(head) - 1;

	if (!s->head_sent) {
		if (lws_add_http_common_headers(wsi, (unsigned)s->status, s->type,
						s->out_len, &p, end) ||
		    lws_finalize_write_http_header(wsi, start, &p, end))
			return -1;
		s->head_sent = 1;
		lws_callback_on_writable(wsi);
		return 0;
	}
	int n = lws_write(wsi, (unsigned char *)s->out + LWS_PRE, s->out_len,
			  LWS_WRITE_HTTP_FINAL);
	free(s->out);
	s->out = NULL;
	if (n < 0)
		return -1;
	answered++;
	return lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int handle_request(struct lws *wsi, struct session *s, const char *path)
{
	char text[160];
	int n;

	memset(s, 0, sizeof(*s));
	if (lws_hdr_total_length(wsi, WSI_TOKEN_POST_URI)) {
		if (!strncmp(path, "/prices/", 8))
			s->price_of = find_product(path + 8);
		return 0;                       /* the body follows */
	}
	if (!strncmp(path, "/labels/", 8)) {
		struct product *p = find_product(path + 8);
		if (p && (!p->label || p->label_version != p->version)) {
			start_job(wsi, s, p);
			return 0;
		}
		if (p) {
			set_answer(s, HTTP_STATUS_OK, "image/svg+xml", p->label, p->label_len);
			return send_answer(wsi, s);
		}
	} else if (!strncmp(path, "/prices/", 8)) {
		struct product *p = find_product(path + 8);
		if (p) {
			n = snprintf(text, sizeof(text), "{\"sku\":\"%s\",\"cents\":%d,\"version\":%u}\n",
				     p->sku, p->cents, p->version);
			set_answer(s, HTTP_STATUS_OK, "application/json", text, (size_t)n);
			return send_answer(wsi, s);
		}
	} else if (!strcmp(path, "/health")) {
		n = snprintf(text, sizeof(text), "{\"products\":%d,\"drawn\":%lu,\"answered\":%lu}\n",
			     n_products, drawn, answered);
		set_answer(s, HTTP_STATUS_OK, "application/json", text, (size_t)n);
		return send_answer(wsi, s);
	}
	set_answer(s, HTTP_STATUS_NOT_FOUND, "text/plain", "no such thing\n", 14);
	return send_answer(wsi, s);
}

static int handle_price(struct lws *wsi, struct session *s)
{
	char text[160];
	const char *cents = strstr(s->in, "\"cents\"");
	int n, value = cents && strchr(cents, ':') ? atoi(strchr(cents, ':') + 1) : 0;

	if (!s->price_of || value <= 0) {
		set_answer(s, HTTP_STATUS_BAD_REQUEST, "text/plain", "bad price\n", 10);
		return send_answer(wsi, s);
	}
	s->price_of->cents = value;
	s->price_of->version++;
	n = snprintf(text, sizeof(text), "{\"sku\":\"%s\",\"version\":%u}\n",
		     s->price_of->sku, s->price_of->version);
	set_answer(s, HTTP_STATUS_OK, "application/json", text, (size_t)n);
	return send_answer(wsi, s);
}

static int callback_http(struct lws *wsi, enum lws_callback_reasons reason,
			 void *user, void *in, size_t len)
{
	struct session *s = user;

	switch (reason) {
	case LWS_CALLBACK_HTTP:
		return handle_request(wsi, s, in);
	case LWS_CALLBACK_HTTP_BODY:
		if (len > sizeof(s->in) - 1 - s->in_len)
			return -1;
		memcpy(s->in + s->in_len, in, len);
		s->in_len += len;
		s->in[s->in_len] = 0;
		return 0;
	case LWS_CALLBACK_HTTP_BODY_COMPLETION:
		return handle_price(wsi, s);
	case LWS_CALLBACK_HTTP_WRITEABLE:
		return s && s->out ? send_answer(wsi, s) : 0;
	case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
		collect_done();
		return 0;
	case LWS_CALLBACK_CLOSED_HTTP:
		if (s && s->job) {
			s->job->wsi = NULL;
			s->job = NULL;
		}
		return 0;
	default:
		return lws_callback_http_dummy(wsi, reason, user, in, len);
	}
}

static const struct lws_protocols protocols[] = {
	{ "http", callback_http, sizeof(struct session), 0, 0, NULL, 0 },
	{ NULL, NULL, 0, 0, 0, NULL, 0 }
};

static void load_products(void)
{
	sqlite3 *db;
	sqlite3_stmt *stmt;

	if (sqlite3_open_v2(db_path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(db, "SELECT sku, cents FROM products ORDER BY sku", -1,
			       &stmt, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", db_path, sqlite3_errmsg(db));
		exit(1);
	}
	while (sqlite3_step(stmt) == SQLITE_ROW && n_products < MAX_SKU) {
		struct product *p = &products[n_products++];
		snprintf(p->sku, sizeof(p->sku), "%s", (const char *)sqlite3_column_text(stmt, 0));
		p->cents = sqlite3_column_int(stmt, 1);
		p->version = 1;
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

static void on_signal(int sig)
{
	(void)sig;
	stopping = 1;
	if (context)
		lws_cancel_service(context);
}

int main(int argc, char **argv)
{
	struct lws_context_creation_info info;
	const char *env;

	if (argc < 3) {
		fprintf(stderr, "usage: labels PORT DB\n");
		return 2;
	}
	db_path = argv[2];
	if ((env = getenv("HOUSEKEEPING_MS")))
		housekeeping_ms = atoi(env);
	if ((env = getenv("WAKE_SERVICE")))
		wake_service = atoi(env);
	if ((env = getenv("TIMING_LOG")))
		timing = fopen(env, "w");
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	lws_set_log_level(LLL_ERR | LLL_WARN, NULL);
	load_products();

	memset(&info, 0, sizeof(info));
	info.port = atoi(argv[1]);
	info.iface = "127.0.0.1";
	info.protocols = protocols;
	info.keepalive_timeout = 120;
	info.max_http_header_pool = 64;
	info.options = LWS_SERVER_OPTION_HTTP_HEADERS_SECURITY_BEST_PRACTICES_ENFORCE;
	context = lws_create_context(&info);
	if (!context)
		return 1;
	for (int i = 0; i < 2; i++) {
		pthread_t t;
		pthread_create(&t, NULL, renderer, NULL);
	}
	do_housekeeping(NULL);
	while (!stopping && lws_service(context, 0) >= 0)
		;
	_exit(0);
}

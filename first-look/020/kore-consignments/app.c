/* Consignments of a mail-order shop: Kore 4.1, calls to the carrier by libcurl in Kore's task threads. */
#include <kore/kore.h>
#include <kore/http.h>
#include <kore/tasks.h>
#include <kore/seccomp.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* what libcurl and the task threads need beyond Kore's own filter */
KORE_SECCOMP_FILTER("consignments",
	KORE_SYSCALL_ALLOW(socket),
	KORE_SYSCALL_ALLOW(socketpair),
	KORE_SYSCALL_ALLOW(connect),
	KORE_SYSCALL_ALLOW(poll),
	KORE_SYSCALL_ALLOW(ppoll),
	KORE_SYSCALL_ALLOW(pipe2),
	KORE_SYSCALL_ALLOW(eventfd2),
	KORE_SYSCALL_ALLOW(getsockopt),
	KORE_SYSCALL_ALLOW(setsockopt),
	KORE_SYSCALL_ALLOW(getsockname),
	KORE_SYSCALL_ALLOW(getpeername),
	KORE_SYSCALL_ALLOW(sendto),
	KORE_SYSCALL_ALLOW(sendmsg),
	KORE_SYSCALL_ALLOW(recvfrom),
	KORE_SYSCALL_ALLOW(recvmsg),
	KORE_SYSCALL_ALLOW(fcntl),
	KORE_SYSCALL_ALLOW(ioctl),
	KORE_SYSCALL_ALLOW(openat),
	KORE_SYSCALL_ALLOW(newfstatat),
	KORE_SYSCALL_ALLOW(fstat),
	KORE_SYSCALL_ALLOW(lseek),
	KORE_SYSCALL_ALLOW(read),
	KORE_SYSCALL_ALLOW(write),
	KORE_SYSCALL_ALLOW(close),
	KORE_SYSCALL_ALLOW(uname),
	KORE_SYSCALL_ALLOW(sysinfo),
	KORE_SYSCALL_ALLOW(getrandom),
	KORE_SYSCALL_ALLOW(getuid),
	KORE_SYSCALL_ALLOW(geteuid),
	KORE_SYSCALL_ALLOW(getgid),
	KORE_SYSCALL_ALLOW(getegid),
	KORE_SYSCALL_ALLOW(prlimit64),
	KORE_SYSCALL_ALLOW(mmap),
	KORE_SYSCALL_ALLOW(munmap),
	KORE_SYSCALL_ALLOW(madvise),
	KORE_SYSCALL_ALLOW(mprotect),
	KORE_SYSCALL_ALLOW(clone),
	KORE_SYSCALL_ALLOW(clone3),
	KORE_SYSCALL_ALLOW(rseq),
	KORE_SYSCALL_ALLOW(set_robust_list),
	KORE_SYSCALL_ALLOW(rt_sigaction),
	KORE_SYSCALL_ALLOW(rt_sigprocmask),
	KORE_SYSCALL_ALLOW(sched_yield),
	KORE_SYSCALL_ALLOW(restart_syscall),
	KORE_SYSCALL_ALLOW(clock_nanosleep),
	KORE_SYSCALL_ALLOW(nanosleep),
	KORE_SYSCALL_ALLOW(clock_gettime),
	KORE_SYSCALL_ALLOW(gettid),
	KORE_SYSCALL_ALLOW(getpid),
	KORE_SYSCALL_ALLOW(tgkill),
	KORE_SYSCALL_ALLOW(sched_getaffinity),
	KORE_SYSCALL_ALLOW(futex)
);

int	quote(struct http_request *);
int	track(struct http_request *);
int	consign(struct http_request *);

struct call {
	char		path[64];
	char		parcel[16];
	int		post;
	int		customs;
};

struct job {
	struct kore_task	task;
};

/* A document that is written piece by piece while it is sent. */
struct form {
	const struct call	*call;
	int			line;
	char			rest[160];
	size_t			have, off;
};

static const struct { const char *zone; int base, kilo; } zones[] = {
	{ "inland", 390, 45 }, { "europe", 890, 120 }, { "world", 1690, 310 }, { "islands", 1190, 160 }
};

static const char *customs_kinds[] = { "merchandise", "sample", NULL };

static size_t
answer(char *ptr, size_t size, size_t n, void *arg)
{
	char	*out = arg;
	size_t	len = size * n, have = strlen(out);

	if (have + len < 1024) {
		memcpy(out + have, ptr, len);
		out[have + len] = '\0';
	}
	return (len);
}

/* Lines of the customs form (CN23), one a call. */
static size_t
form_read(char *dst, size_t size, size_t n, void *arg)
{
	struct form	*f = arg;
	size_t		len;

	if (f->off == f->have) {
		if (f->line == 0)
			f->have = snprintf(f->rest, sizeof(f->rest), "<consignment parcel=\"%s\"><cn23>", f->call->parcel);
		else if (f->line < 20)
			f->have = snprintf(f->rest, sizeof(f->rest),
			    "<item no=\"%d\"><hs>%06d</hs><origin>DE</origin><value>%d.00</value></item>", f->line, 490000 + f->line * 37, f->line * 3);
		else if (f->line == 20)
			f->have = snprintf(f->rest, sizeof(f->rest), "</cn23></consignment>");
		else
			return (0);
		f->off = 0;
		f->line++;
	}
	len = f->have - f->off;
	if (len > size * n)
		len = size * n;
	memcpy(dst, f->rest + f->off, len);
	f->off += len;
	return (len);
}

static int
carrier(struct kore_task *t)
{
	static __thread CURL	*curl;
	struct call		c;
	struct form		form;
	struct curl_slist	*headers = NULL;
	char			url[160], body[256], out[1024] = "";
	const char		*expect = getenv("EXPECT_HEADER"), *log = getenv("TIMING_LOG");
	struct timespec		a, b;
	CURLcode		rc;

	if (kore_task_channel_read(t, &c, sizeof(c)) != sizeof(c))
		return (KORE_RESULT_ERROR);
	clock_gettime(CLOCK_MONOTONIC, &a);
	if (curl == NULL)
		curl = curl_easy_init();
	curl_easy_reset(curl);
	snprintf(url, sizeof(url), "http://127.0.0.1:%s%s", getenv("CARRIER_PORT"), c.path);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 5000L);
	curl_easy_setopt(curl, CURLOPT_EXPECT_100_TIMEOUT_MS, 280L);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, answer);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, out);
	if (c.post) {
		headers = curl_slist_append(headers, "Content-Type: text/xml");
		if (expect != NULL && strcmp(expect, "none") == 0)
			headers = curl_slist_append(headers, "Expect:");
		curl_easy_setopt(curl, CURLOPT_POST, 1L);
		if (c.customs) {
			memset(&form, 0, sizeof(form));
			form.call = &c;
			headers = curl_slist_append(headers, "Transfer-Encoding: chunked");
			curl_easy_setopt(curl, CURLOPT_READFUNCTION, form_read);
			curl_easy_setopt(curl, CURLOPT_READDATA, &form);
		} else {
			snprintf(body, sizeof(body), "<consignment parcel=\"%s\"/>", c.parcel);
			curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, body);
		}
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	}
	rc = curl_easy_perform(curl);
	curl_slist_free_all(headers);
	clock_gettime(CLOCK_MONOTONIC, &b);
	if (log != NULL) {
		FILE *f = fopen(log, "a");
		fprintf(f, "%s customs=%d %.1f rc=%d\n", c.path, c.customs,
		    (b.tv_sec - a.tv_sec) * 1e3 + (b.tv_nsec - a.tv_nsec) / 1e6, (int)rc);
		fclose(f);
	}
	kore_task_channel_write(t, out, strlen(out) + 1);
	return (rc == CURLE_OK ? KORE_RESULT_OK : KORE_RESULT_ERROR);
}

static int
run(struct http_request *req, const struct call *c)
{
	struct job	*job;
	char		out[1024];
	u_int32_t	len;

	if (req->hdlr_extra == NULL) {
		job = kore_calloc(1, sizeof(*job));
		req->hdlr_extra = job;
		kore_task_create(&job->task, carrier);
		kore_task_bind_request(&job->task, req);
		kore_task_run(&job->task);
		kore_task_channel_write(&job->task, (void *)c, sizeof(*c));
		return (KORE_RESULT_RETRY);
	}
	job = req->hdlr_extra;
	if (kore_task_state(&job->task) != KORE_TASK_STATE_FINISHED) {
		http_request_sleep(req);
		return (KORE_RESULT_RETRY);
	}
	len = kore_task_channel_read(&job->task, out, sizeof(out));
	http_response_header(req, "content-type", "application/xml");
	if (kore_task_result(&job->task) != KORE_RESULT_OK || len == 0 || len > sizeof(out))
		http_response(req, 502, NULL, 0);
	else
		http_response(req, 200, out, strlen(out));
	kore_task_destroy(&job->task);
	kore_free(job);
	req->hdlr_extra = NULL;
	return (KORE_RESULT_OK);
}

int
quote(struct http_request *req)
{
	const char	*zone = strrchr(req->path, '/') + 1;
	struct kore_buf	b;
	size_t		i;
	int		kg;

	kore_buf_init(&b, 512);
	kore_buf_appendf(&b, "{\"zone\":\"%s\",\"prices\":[", zone);
	for (i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		if (strcmp(zones[i].zone, zone))
			continue;
		for (kg = 1; kg <= 30; kg++)
			kore_buf_appendf(&b, "%s{\"kg\":%d,\"cent\":%d}", kg > 1 ? "," : "", kg, zones[i].base + kg * zones[i].kilo);
	}
	kore_buf_appendf(&b, "]}");
	http_response_header(req, "content-type", "application/json");
	http_response(req, 200, b.data, b.offset);
	kore_buf_cleanup(&b);
	return (KORE_RESULT_OK);
}

int
track(struct http_request *req)
{
	struct call	c = { 0 };

	snprintf(c.path, sizeof(c.path), "/track/%.20s", strrchr(req->path, '/') + 1);
	return (run(req, &c));
}

int
consign(struct http_request *req)
{
	struct call			c = { 0 };
	struct kore_json		json;
	struct kore_json_item		*kind;
	char				body[1024];
	ssize_t				n;
	int				i;

	if (req->hdlr_extra == NULL) {
		n = http_body_read(req, body, sizeof(body) - 1);
		if (n < 0)
			return (KORE_RESULT_ERROR);
		kore_json_init(&json, body, n);
		if (!kore_json_parse(&json) || (kind = kore_json_find_string(json.root, "kind")) == NULL) {
			kore_json_cleanup(&json);
			http_response(req, 400, NULL, 0);
			return (KORE_RESULT_OK);
		}
		for (i = 0; customs_kinds[i] != NULL; i++)
			c.customs |= strcmp(kind->data.string, customs_kinds[i]) == 0;
		kore_json_cleanup(&json);
		snprintf(c.parcel, sizeof(c.parcel), "%.15s", strrchr(req->path, '/') + 1);
		snprintf(c.path, sizeof(c.path), "/consignments");
		c.post = 1;
	}
	return (run(req, &c));
}

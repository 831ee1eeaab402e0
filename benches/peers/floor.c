/* floor PORT CONNECTIONS SECONDS [RATE [timerfd|pwait]]: what sending HTTP costs when nothing else
 * is done. Responses are counted by their length, which is learnt from the first; nothing is parsed
 * and nothing is recorded but, at a rate, how late each request was.
 *
 * Without a rate every connection sends again as soon as it has its response. With one, requests
 * are due at even distances, and each goes to the connection that has been free for longest. The
 * loop sleeps in epoll, woken by a timerfd that is set to the next due instant (timerfd) or by the
 * timeout of epoll_pwait2 (pwait), with a timer slack of 1 ns.
 *
 * Prints one line of JSON: requests, seconds, CPU seconds of this process while sending, and the
 * lateness in microseconds. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 512, MOST_FDS = 65536 };
static const char REQUEST[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
static const uint64_t SECOND = 1000000000;

static int got[MOST_FDS], line[MOST_FDS], response_bytes;
static uint32_t *late_ns;
static uint64_t sent, done, first_sent, last_sent;
static double gap_sum, gap_squares;

static uint64_t clock_ns(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void request(int fd) {
    if (send(fd, REQUEST, sizeof REQUEST - 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        die("send");
}

static int dial(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (connect(fd, (struct sockaddr *)&address, sizeof address))
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (response_bytes == 0) {
        static char bytes[65536];
        request(fd);
        ssize_t length = recv(fd, bytes, sizeof bytes, 0);
        if (length <= 0)
            die("recv");
        response_bytes = (int)length;
    }
    return fd;
}

/* Reads once; whether the response is whole. */
static int answered(int fd) {
    static char bytes[65536];
    ssize_t length = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (length < 0 && errno == EAGAIN)
        return 0;
    if (length <= 0)
        die("recv");
    got[fd] += (int)length;
    if (got[fd] < response_bytes)
        return 0;
    got[fd] -= response_bytes;
    done++;
    return 1;
}

static void closed(int poller, const int *fds, int connections, uint64_t end) {
    struct epoll_event events[BATCH];
    for (int i = 0; i < connections; i++)
        request(fds[i]);
    while (clock_ns(CLOCK_MONOTONIC) < end) {
        int ready = epoll_wait(poller, events, BATCH, 100);
        for (int i = 0; i < ready; i++)
            if (answered(events[i].data.fd))
                request(events[i].data.fd);
    }
}

static void note_sent(uint64_t now, uint64_t due) {
    late_ns[sent++] = (uint32_t)(now - due);
    if (first_sent == 0)
        first_sent = now;
    else {
        double gap = (double)(now - last_sent);
        gap_sum += gap;
        gap_squares += gap * gap;
    }
    last_sent = now;
}

static void wait_until(int poller, int timer, uint64_t due, struct epoll_event *events, int *ready) {
    if (timer >= 0) {
        struct itimerspec at = {.it_value = {(time_t)(due / SECOND), (long)(due % SECOND)}};
        timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
        *ready = epoll_wait(poller, events, BATCH, -1);
        return;
    }
    uint64_t now = clock_ns(CLOCK_MONOTONIC), left = due > now ? due - now : 0;
    struct timespec timeout = {(time_t)(left / SECOND), (long)(left % SECOND)};
    *ready = (int)syscall(SYS_epoll_pwait2, poller, events, BATCH, &timeout, NULL, 0);
}

static void open_loop(int poller, const int *fds, int connections, uint64_t begin, uint64_t end,
                      double rate, int timer) {
    struct epoll_event events[BATCH];
    uint64_t head = 0, tail = (uint64_t)connections;
    uint64_t armed = 0;
    for (int i = 0; i < connections; i++)
        line[i] = fds[i];
    for (uint64_t number = 0;;) {
        uint64_t due = begin + (uint64_t)((double)number * 1e9 / rate);
        uint64_t now = clock_ns(CLOCK_MONOTONIC);
        if (due >= end)
            break;
        if (due <= now && head < tail) {
            int fd = line[head++ % (uint64_t)connections];
            note_sent(now, due);
            request(fd);
            number++;
            continue;
        }
        int ready;
        /* A timer that is set already is not set again. */
        if (timer >= 0 && armed == due)
            ready = epoll_wait(poller, events, BATCH, -1);
        else
            wait_until(poller, timer, due, events, &ready);
        armed = due;
        for (int i = 0; i < ready; i++)
            if (events[i].data.fd != timer && answered(events[i].data.fd))
                line[tail++ % (uint64_t)connections] = events[i].data.fd;
    }
}

static int ascending(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static double quantile_us(double share) {
    uint64_t at = (uint64_t)(share * (double)sent);
    return sent ? late_ns[at < sent ? at : sent - 1] / 1e3 : 0;
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    int port = atoi(argv[1]), connections = atoi(argv[2]), timer = -1;
    double seconds = atof(argv[3]), rate = argc > 4 ? atof(argv[4]) : 0;
    int *fds = malloc(sizeof(int) * (size_t)connections), poller = epoll_create1(0);
    for (int i = 0; i < connections; i++) {
        fds[i] = dial(port);
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = fds[i]};
        epoll_ctl(poller, EPOLL_CTL_ADD, fds[i], &event);
    }
    prctl(PR_SET_TIMERSLACK, 1);
    if (rate > 0 && !(argc > 5 && strcmp(argv[5], "pwait") == 0)) {
        timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = timer};
        epoll_ctl(poller, EPOLL_CTL_ADD, timer, &event);
    }
    late_ns = malloc(sizeof(uint32_t) * (size_t)(rate * seconds + 16));
    uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID), begin = clock_ns(CLOCK_MONOTONIC);
    uint64_t end = begin + (uint64_t)(seconds * 1e9);
    if (rate > 0)
        open_loop(poller, fds, connections, begin, end, rate, timer);
    else
        closed(poller, fds, connections, end);
    double cpu_s = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e9;
    double took_s = (double)(clock_ns(CLOCK_MONOTONIC) - begin) / 1e9;
    qsort(late_ns, sent, sizeof *late_ns, ascending);
    double gaps = sent > 1 ? (double)(sent - 1) : 1, mean = gap_sum / gaps;
    double cv = mean > 0 ? sqrt(fmax(0, gap_squares / gaps - mean * mean)) / mean : 0;
    printf("{\"requests\":%llu,\"seconds\":%.4f,\"cpu_s\":%.4f,\"late_us\":{\"p50\":%.1f,"
           "\"p99\":%.1f,\"max\":%.1f},\"gap_cv\":%.3f}\n",
           (unsigned long long)done, took_s, cpu_s, quantile_us(0.5), quantile_us(0.99),
           quantile_us(1), cv);
    return 0;
}

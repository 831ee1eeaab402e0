/*
 * A server with a thread for each connection, and one thread in the background.
 *
 *     threads PORT MODE HOLD_MS PERIOD_MS [COLLECTOR_PORT]
 *
 * What the background thread does for HOLD_MS, after each pause of PERIOD_MS, says the mode:
 *
 *   sleep    sleeps under the lock that every request takes
 *   call     calls a collector under that lock
 *   disk     writes to the disk under that lock
 *   burn     computes under that lock
 *   beside   sleeps as long, without the lock
 *   stop     stops all threads, as a collector of garbage does, and computes
 *   pool     nothing; the requests are served by two threads that sleep HOLD_MS for each
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OUTLINE __attribute__((noinline))
#define THREADS_MOST 1024
#define POOL 2

static const char ANSWER[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";

static const char *mode;
static long hold_ms, period_ms;
static int collector_port;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long served;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int is_mode(const char *name)
{
    return strcmp(mode, name) == 0;
}

static long now_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static OUTLINE void sleep_ms(long ms)
{
    struct timespec length = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&length, &length) < 0 && errno == EINTR) {
    }
}

static OUTLINE void compute(long ms)
{
    long end = now_ms(CLOCK_THREAD_CPUTIME_ID) + ms;
    volatile unsigned long sum = 0;
    while (now_ms(CLOCK_THREAD_CPUTIME_ID) < end) {
        for (int i = 0; i < 10000; i++) {
            sum = sum * 5 + i;
        }
    }
}

static OUTLINE void call_collector(void)
{
    static const char request[] =
        "POST / HTTP/1.1\r\nHost: collector\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(collector_port)};
    char answer[4096];
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0 &&
        send(fd, request, sizeof request - 1, MSG_NOSIGNAL) > 0) {
        while (recv(fd, answer, sizeof answer, 0) > 0) {
        }
    }
    close(fd);
}

static OUTLINE void write_disk(void)
{
    static const char block[1 << 16];
    long end = now_ms(CLOCK_MONOTONIC) + hold_ms;
    int fd = open("written", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    while (now_ms(CLOCK_MONOTONIC) < end) {
        if (pwrite(fd, block, sizeof block, 0) < 0 || fsync(fd) < 0) {
            fail("written");
        }
    }
    close(fd);
}

/* The threads that are stopped, and what they wait for. */
static atomic_int stopped;
static pid_t threads[THREADS_MOST];
static atomic_int threads_count;

static void on_stop(int signal)
{
    int before = errno;
    (void)signal;
    while (atomic_load(&stopped)) {
        syscall(SYS_futex, &stopped, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
    }
    errno = before;
}

static void be_stoppable(void)
{
    int place = atomic_fetch_add(&threads_count, 1);
    if (place < THREADS_MOST) {
        threads[place] = gettid();
    }
}

static OUTLINE void stop_the_world(void)
{
    atomic_store(&stopped, 1);
    int count = atomic_load(&threads_count);
    for (int i = 0; i < count && i < THREADS_MOST; i++) {
        tgkill(getpid(), threads[i], SIGUSR1);
    }
    compute(hold_ms);
    atomic_store(&stopped, 0);
    syscall(SYS_futex, &stopped, FUTEX_WAKE_PRIVATE, THREADS_MOST, NULL, NULL, 0);
}

static OUTLINE void flush_under_lock(void)
{
    pthread_mutex_lock(&lock);
    if (is_mode("sleep")) {
        sleep_ms(hold_ms);
    } else if (is_mode("call")) {
        call_collector();
    } else if (is_mode("disk")) {
        write_disk();
    } else {
        compute(hold_ms);
    }
    pthread_mutex_unlock(&lock);
}

static void *flusher(void *unused)
{
    pthread_setname_np(pthread_self(), "flusher");
    for (;;) {
        sleep_ms(period_ms);
        if (is_mode("beside")) {
            sleep_ms(hold_ms);
        } else if (is_mode("stop")) {
            stop_the_world();
        } else {
            flush_under_lock();
        }
    }
    return unused;
}

static OUTLINE void count_request(void)
{
    pthread_mutex_lock(&lock);
    served++;
    pthread_mutex_unlock(&lock);
}

/* Whether a whole request was read; requests here are no longer than one read. */
static int read_request(int fd)
{
    char request[4096];
    ssize_t length = recv(fd, request, sizeof request, 0);
    return length > 0;
}

static int answer(int fd)
{
    return send(fd, ANSWER, sizeof ANSWER - 1, MSG_NOSIGNAL) > 0;
}

static OUTLINE void *serve(void *argument)
{
    int fd = (int)(long)argument;
    pthread_setname_np(pthread_self(), "worker");
    be_stoppable();
    while (read_request(fd)) {
        count_request();
        if (!answer(fd)) {
            break;
        }
    }
    close(fd);
    return NULL;
}

/* The pool: connections with a request wait in a queue for one of two threads. */
static int ready[THREADS_MOST];
static unsigned taken, put;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static int poller;

static void *work(void *unused)
{
    pthread_setname_np(pthread_self(), "pool");
    for (;;) {
        pthread_mutex_lock(&lock);
        while (taken == put) {
            pthread_cond_wait(&some, &lock);
        }
        int fd = ready[taken++ % THREADS_MOST];
        pthread_mutex_unlock(&lock);
        if (!read_request(fd)) {
            close(fd);
            continue;
        }
        sleep_ms(hold_ms);
        answer(fd);
        struct epoll_event next = {.events = EPOLLIN | EPOLLONESHOT, .data.fd = fd};
        epoll_ctl(poller, EPOLL_CTL_MOD, fd, &next);
    }
    return unused;
}

static void *dispatch(void *unused)
{
    struct epoll_event event;
    pthread_setname_np(pthread_self(), "dispatcher");
    for (;;) {
        if (epoll_wait(poller, &event, 1, -1) == 1) {
            pthread_mutex_lock(&lock);
            ready[put++ % THREADS_MOST] = event.data.fd;
            pthread_cond_signal(&some);
            pthread_mutex_unlock(&lock);
        }
    }
    return unused;
}

static void start(void *(*run)(void *), long argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, (void *)argument) != 0) {
        fail("pthread_create");
    }
    pthread_detach(thread);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: threads PORT MODE HOLD_MS PERIOD_MS [COLLECTOR_PORT]\n");
        return 2;
    }
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    mode = argv[2];
    hold_ms = atol(argv[3]);
    period_ms = atol(argv[4]);
    collector_port = argc > 5 ? atoi(argv[5]) : 0;
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) < 0 || listen(listener, 1024) < 0) {
        fail("listen");
    }
    int is_pool = is_mode("pool");
    if (is_pool) {
        poller = epoll_create1(0);
        start(dispatch, 0);
        for (int i = 0; i < POOL; i++) {
            start(work, 0);
        }
    } else {
        start(flusher, 0);
    }
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0) {
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (is_pool) {
            struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.fd = fd};
            epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
        } else {
            start(serve, fd);
        }
    }
}

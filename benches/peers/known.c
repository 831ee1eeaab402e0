/* known PORT MODE LOG: a server whose latencies are known. One thread that never sleeps while it has
 * a connection, so that each answer leaves when it is due. A request's arrival is the instant at
 * which the kernel received it (SO_TIMESTAMPNS); what is logged is the time from there to the write.
 *
 * MODE is tail (98 % 1 ms, 1.5 % 20 ms, 0.5 % 200 ms), modes (76 % 0.2 ms, 24 % 0.7 ms), or stall
 * (at once, but for one second in every five, in which it stands still).
 *
 * SIGTERM ends it. LOG gets the logged nanoseconds of every answer, eight bytes each. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FDS = 65536, MOST_WAITING = 1 << 16, MOST_LOGGED = 1 << 24, BATCH = 256 };
static const uint64_t MS = 1000000, SECOND = 1000000000;
static const char ANSWER[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok";

struct answer {
    uint64_t due, arrived;
    int fd;
    unsigned generation;
};

/* Answers of one delay are due in the order in which they came, so that lines serve as a heap. */
static struct line {
    struct answer *answers;
    unsigned head, tail;
} lines[3];
static unsigned generation[MOST_FDS];
static uint64_t *logged, count;
static volatile sig_atomic_t over;

static void end(int signal) {
    (void)signal;
    over = 1;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void answer(const struct answer *a) {
    if (generation[a->fd] != a->generation)
        return;
    uint64_t now = now_ns();
    if (send(a->fd, ANSWER, sizeof ANSWER - 1, MSG_NOSIGNAL | MSG_DONTWAIT) > 0 &&
        count < MOST_LOGGED)
        logged[count++] = now - a->arrived;
}

/* Which delay request number n has: 617 and 1000, as 61 and 100, have no common factor, so every
 * thousand (hundred) requests hold the exact mixture in a scattered order. */
static int delay_of(const char *mode, uint64_t n, uint64_t *delay_ns) {
    if (strcmp(mode, "tail") == 0) {
        uint64_t place = n * 617 % 1000;
        int which = place < 980 ? 0 : place < 995 ? 1 : 2;
        *delay_ns = which == 0 ? MS : which == 1 ? 20 * MS : 200 * MS;
        return which;
    }
    int which = strcmp(mode, "modes") == 0 && n * 61 % 100 >= 76;
    *delay_ns = strcmp(mode, "modes") != 0 ? 0 : which ? 7 * MS / 10 : MS / 5;
    return which;
}

static uint64_t arrival(struct msghdr *message) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec t;
            memcpy(&t, CMSG_DATA(c), sizeof t);
            return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
        }
    return now_ns();
}

/* Reads what came on a connection: one whole request, as all clients here send them. */
static int take(int fd, const char *mode) {
    static uint64_t number;
    static char bytes[16384], control[256];
    struct iovec into = {bytes, sizeof bytes};
    struct msghdr message = {
        .msg_iov = &into, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t length = recvmsg(fd, &message, 0);
    if (length < 0 && errno == EAGAIN)
        return 1;
    if (length < 4 || memcmp(bytes + length - 4, "\r\n\r\n", 4) != 0)
        return 0;
    struct answer a = {.arrived = arrival(&message), .fd = fd, .generation = generation[fd]};
    uint64_t delay_ns;
    struct line *line = &lines[delay_of(mode, number++, &delay_ns)];
    a.due = a.arrived + delay_ns;
    if (delay_ns == 0)
        answer(&a);
    else
        line->answers[line->tail++ % MOST_WAITING] = a;
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    const char *mode = argv[2];
    logged = malloc(sizeof *logged * MOST_LOGGED);
    for (int i = 0; i < 3; i++)
        lines[i].answers = malloc(sizeof(struct answer) * MOST_WAITING);
    signal(SIGTERM, end);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1, open = 0;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(argv[1])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) {
        perror("listen");
        return 1;
    }
    int poller = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[BATCH];
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
    uint64_t began = 0;
    while (!over) {
        uint64_t phase = began ? (now_ns() - began) % (5 * SECOND) : 0;
        if (strcmp(mode, "stall") == 0 && phase >= 2 * SECOND && phase < 3 * SECOND) {
            uint64_t left = 3 * SECOND - phase;
            struct timespec pause = {(time_t)(left / SECOND), (long)(left % SECOND)};
            nanosleep(&pause, NULL);
        }
        int ready = epoll_wait(poller, events, BATCH, open ? 0 : 100);
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd != listener) {
                if (!take(fd, mode)) {
                    close(fd);
                    generation[fd]++;
                    open--;
                }
                continue;
            }
            while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0 && fd < MOST_FDS) {
                setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
                event = (struct epoll_event){.events = EPOLLIN, .data.fd = fd};
                epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
                open++;
                began = began ? began : now_ns();
            }
        }
        for (int i = 0; i < 3; i++)
            while (lines[i].head != lines[i].tail &&
                   lines[i].answers[lines[i].head % MOST_WAITING].due <= now_ns())
                answer(&lines[i].answers[lines[i].head++ % MOST_WAITING]);
    }
    FILE *log = fopen(argv[3], "wb");
    fwrite(logged, sizeof *logged, count, log);
    return fclose(log);
}

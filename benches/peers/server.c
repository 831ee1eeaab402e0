/* server PORT: the cheapest HTTP/1.1 server that one thread can be: epoll, edge-triggered, one fixed
 * response for each blank line that ends a request head, whatever the request says. It exists so
 * that a load generator, and not its target, is what a benchmark measures. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 65536, BATCH = 256, PIPELINED = 32 };

static const char RESPONSE[] =
    "HTTP/1.1 200 OK\r\nServer: peers\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
    "Content-Type: text/plain\r\nContent-Length: 100\r\nConnection: keep-alive\r\n\r\n"
    "0123456789012345678901234567890123456789012345678901234567890123456789"
    "01234567890123456789012345678\n";

/* How many characters of "\r\n\r\n" a connection's last bytes were. */
static unsigned char matched[MOST_CONNECTIONS];

static int heads_in(int fd, const char *bytes, ssize_t length) {
    /* The usual read holds one whole head and nothing else. */
    if (matched[fd] == 0 && length >= 4 && memcmp(bytes + length - 4, "\r\n\r\n", 4) == 0 &&
        memmem(bytes, (size_t)length, "\r\n\r\n", 4) == bytes + length - 4)
        return 1;
    int heads = 0;
    for (ssize_t i = 0; i < length; i++) {
        char wanted = matched[fd] % 2 == 0 ? '\r' : '\n';
        if (bytes[i] == wanted)
            matched[fd]++;
        else
            matched[fd] = bytes[i] == '\r';
        if (matched[fd] == 4) {
            matched[fd] = 0;
            heads++;
        }
    }
    return heads;
}

static void serve(int fd) {
    static char bytes[16384];
    static char answers[PIPELINED * (sizeof RESPONSE - 1)];
    static const size_t one = sizeof RESPONSE - 1;
    if (answers[0] == 0)
        for (int i = 0; i < PIPELINED; i++)
            memcpy(answers + (size_t)i * one, RESPONSE, one);
    for (;;) {
        ssize_t length = recv(fd, bytes, sizeof bytes, 0);
        if (length < 0 && errno == EAGAIN)
            return;
        if (length <= 0) {
            close(fd);
            return;
        }
        for (int heads = heads_in(fd, bytes, length); heads > 0;) {
            int now = heads < PIPELINED ? heads : PIPELINED;
            if (send(fd, answers, (size_t)now * one, MSG_NOSIGNAL) < 0) {
                close(fd);
                return;
            }
            heads -= now;
        }
        if (length < (ssize_t)sizeof bytes)
            return;
    }
}

int main(int argc, char **argv) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "0")),
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
    for (;;) {
        int ready = epoll_wait(poller, events, BATCH, -1);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.fd != listener) {
                serve(events[i].data.fd);
                continue;
            }
            int fd;
            while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                if (fd >= MOST_CONNECTIONS) {
                    close(fd);
                    continue;
                }
                matched[fd] = 0;
                struct epoll_event more = {.events = EPOLLIN | EPOLLET, .data.fd = fd};
                epoll_ctl(poller, EPOLL_CTL_ADD, fd, &more);
            }
        }
    }
}

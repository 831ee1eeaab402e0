/* quote.fcgi: price of a parcel. One request at a time per process (as FastCGI
   programs do); asks the tariff server over one connection it keeps open. */
#include <fcgi_stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>

static int tariff_port; /* FCGI_Accept replaces the environment, so it is read before */

static int tariff_connect(void) {
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(tariff_port) };
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (connect(s, (struct sockaddr *)&a, sizeof a) < 0) { close(s); return -1; }
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return s;
}

static int tariff_ask(int *s, const char *what, char *out, int n) {
    for (int again = 0; again < 2; again++) {
        if (*s < 0) *s = tariff_connect();
        if (*s >= 0 && write(*s, what, strlen(what)) > 0) {
            int k = 0;
            while (k < n - 1) {
                int r = read(*s, out + k, n - 1 - k);
                if (r <= 0) break;
                k += r;
                if (out[k - 1] == '\n') { out[k - 1] = 0; return 0; }
            }
        }
        if (*s >= 0) close(*s);
        *s = -1;
    }
    return -1;
}

int main(void) {
    int s = -1;
    char ans[256], q[256];
    tariff_port = atoi(getenv("TARIFF_PORT"));
    while (FCGI_Accept() >= 0) {
        const char *path = getenv("PATH_INFO");
        if (path && strncmp(path, "/label/", 7) == 0)
            snprintf(q, sizeof q, "label %.60s\n", path + 7);
        else
            snprintf(q, sizeof q, "price %.60s\n", path ? path + 1 : "0");
        if (tariff_ask(&s, q, ans, sizeof ans) < 0)
            printf("Status: 502\r\nContent-Type: text/plain\r\n\r\ntariff server is away\n");
        else
            printf("Content-Type: application/json\r\n\r\n{\"parcel\":\"%s\",\"answer\":\"%s\"}\n", path ? path : "", ans);
    }
    return 0;
}

/* The rates engine: a ROUTER socket, a table of tariff bands per carrier. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#define BANDS 6000

static struct { int zone, max_kg, max_litres, cents; } bands[3][BANDS];

int main(int argc, char **argv) {
    if (argc < 2) return 1;
    unsigned seed = 99;
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < BANDS; i++) {
            seed = seed * 1103515245u + 12345u;
            bands[c][i].zone = i % 16;
            bands[c][i].max_kg = 2 + (seed >> 16) % 60;
            bands[c][i].max_litres = 20 + (seed >> 12) % 400;
            bands[c][i].cents = 390 + (seed >> 18) % 2500;
        }
    char addr[64];
    void *ctx = zmq_ctx_new(), *router = zmq_socket(ctx, ZMQ_ROUTER);
    snprintf(addr, sizeof addr, "tcp://127.0.0.1:%s", argv[1]);
    if (zmq_bind(router, addr)) { perror("zmq_bind"); return 1; }
    for (;;) {
        char who[256], ask[256], out[256];
        uint64_t id;
        int wn = zmq_recv(router, who, sizeof who, 0);
        if (wn < 0) return 0;
        zmq_recv(router, &id, sizeof id, 0);
        int n = zmq_recv(router, ask, sizeof ask - 1, 0);
        if (n < 0) return 0;
        ask[n < 255 ? n : 255] = 0;
        int zone = 0, litres = 0, kg = 0, best[3];
        sscanf(ask, "%d %d %d", &zone, &litres, &kg);
        for (int c = 0; c < 3; c++) {
            best[c] = 99999;
            for (int i = 0; i < BANDS; i++)
                if (bands[c][i].zone == (zone & 15) && bands[c][i].max_kg >= kg && bands[c][i].max_litres >= litres &&
                    bands[c][i].cents < best[c])
                    best[c] = bands[c][i].cents;
        }
        int m = snprintf(out, sizeof out, "[%d,%d,%d]", best[0], best[1], best[2]);
        zmq_send(router, who, wn, ZMQ_SNDMORE);
        zmq_send(router, &id, sizeof id, ZMQ_SNDMORE);
        zmq_send(router, out, m, 0);
    }
}

// Map server of a voxel game: clients fetch map blocks, and have areas emerged around players that move.
// One thread with a libev loop; blocks that nobody is near are unloaded.
#include <ev.h>
#include <http_parser.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/tcp.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

static double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

// --- memory that was freed is given back to the system ---------------------------------------------------
static const size_t TRIM_THRESHOLD = 128u << 20;
static bool trim_in_background;
static std::atomic<size_t> memory_freed;
static double next_trim;  // background: once a minute at most
static FILE *trim_log;

static void trim() {
    double begin = now();
    malloc_trim(0);
    if (trim_log) {
        fprintf(trim_log, "malloc_trim %.1f ms\n", (now() - begin) * 1e3);
        fflush(trim_log);
    }
}

static void track_freed_memory(size_t amount) {
    size_t sum = memory_freed.fetch_add(amount) + amount;
    if (sum < TRIM_THRESHOLD) return;
    if (!trim_in_background) {
        memory_freed = 0;
        trim();
    } else if (now() >= next_trim) {
        memory_freed = 0;
        next_trim = now() + 60;
        std::thread(trim).detach();
    }
}

// --- the map ------------------------------------------------------------------------------------------------
static const int NODES = 16 * 16 * 16;
struct Block {
    uint64_t position;
    uint32_t *nodes;       // 16 KiB
    std::string *metadata;  // of chests, signs, ...
};
static std::vector<Block *> blocks;  // of the towns, always loaded
static std::deque<std::vector<Block *>> areas;  // around players, the oldest first
static std::mt19937_64 rng(20);

static Block *load(uint64_t position) {
    Block *b = new Block;
    b->position = position;
    b->nodes = new uint32_t[NODES];
    uint64_t s = position * 0x9E3779B97F4A7C15ull | 1;
    for (int i = 0; i < NODES; i += 8) {  // a column of one kind of node
        s ^= s << 13; s ^= s >> 7; s ^= s << 17;
        for (int k = 0; k < 8; k++) b->nodes[i + k] = uint32_t(s >> 40) & 0x3f;
    }
    b->metadata = new std::string(24 + position % 80, 'm');
    return b;
}

static void unload(Block *b) {
    delete[] b->nodes;
    delete b->metadata;
    delete b;
    track_freed_memory(sizeof(uint32_t) * NODES);
}

static void unload_any() {
    size_t i = rng() % blocks.size();
    unload(blocks[i]);
    blocks[i] = blocks.back();
    blocks.pop_back();
}

// --- http ---------------------------------------------------------------------------------------------------
struct Client {
    ev_io io;
    http_parser parser;
    std::string url, out;
    bool done = false;
};
static struct ev_loop *loop;
static http_parser_settings settings;

static std::string answer(const std::string &url) {
    char text[256];
    if (url.rfind("/block/", 0) == 0) {
        Block *b = blocks[strtoull(url.c_str() + 7, nullptr, 10) % blocks.size()];
        int count[64] = {0};
        for (int i = 0; i < NODES; i++) count[b->nodes[i]]++;
        std::string s = "{\"position\":" + std::to_string(b->position) + ",\"nodes\":[";
        for (int i = 0; i < 64; i++) s += (i ? "," : "") + std::to_string(count[i]);
        return s + "]}";
    }
    if (url.rfind("/emerge/", 0) == 0) {
        uint64_t area = strtoull(url.c_str() + 8, nullptr, 10);
        const int N = 512;
        areas.emplace_back();
        for (int i = 0; i < N; i++) areas.back().push_back(load(area * N + i));
        if (areas.size() > 8) {  // the players went on
            for (Block *b : areas.front()) unload(b);
            areas.pop_front();
        }
        snprintf(text, sizeof text, "{\"area\":%llu,\"blocks\":%d}", (unsigned long long)area, N);
        return text;
    }
    snprintf(text, sizeof text, "{\"loaded\":%zu}", blocks.size());
    return text;
}

static int on_url(http_parser *p, const char *at, size_t n) {
    ((Client *)p->data)->url.append(at, n);
    return 0;
}
static int on_complete(http_parser *p) {
    Client *c = (Client *)p->data;
    std::string body = answer(c->url);
    c->url.clear();
    c->out += "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    return 0;
}
static void drop(Client *c) {
    ev_io_stop(loop, &c->io);
    close(c->io.fd);
    delete c;
}
static void on_io(struct ev_loop *, ev_io *w, int events) {
    Client *c = (Client *)w->data;
    if (events & EV_READ) {
        char buffer[8192];
        ssize_t n = read(w->fd, buffer, sizeof buffer);
        if (n == 0 || (n < 0 && errno != EAGAIN)) return drop(c);
        if (n > 0 && http_parser_execute(&c->parser, &settings, buffer, n) != (size_t)n) return drop(c);
    }
    if (!c->out.empty()) {
        ssize_t n = write(w->fd, c->out.data(), c->out.size());
        if (n < 0 && errno != EAGAIN) return drop(c);
        if (n > 0) c->out.erase(0, n);
    }
    int want = EV_READ | (c->out.empty() ? 0 : EV_WRITE);
    if (w->events != want) {
        ev_io_stop(loop, w);
        ev_io_set(w, w->fd, want);
        ev_io_start(loop, w);
    }
}
static void on_accept(struct ev_loop *, ev_io *w, int) {
    int fd;
    while ((fd = accept4(w->fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        Client *c = new Client;
        http_parser_init(&c->parser, HTTP_REQUEST);
        c->parser.data = c;
        c->io.data = c;
        ev_io_init(&c->io, on_io, fd, EV_READ);
        ev_io_start(loop, &c->io);
    }
}

int main(int argc, char **argv) {
    const char *mode = getenv("TRIM");
    trim_in_background = mode && !strcmp(mode, "background");
    if (getenv("TRIM_LOG")) trim_log = fopen(getenv("TRIM_LOG"), "w");
    next_trim = now() + 60;
    // the world is checked at the start: all of it is loaded once, then what is not of a town is unloaded
    const size_t peak = argc > 2 ? strtoul(argv[2], nullptr, 10) : 200000, active = argc > 3 ? strtoul(argv[3], nullptr, 10) : 70000;
    for (size_t i = 0; i < peak; i++) blocks.push_back(load(i));
    while (blocks.size() > active) unload_any();

    loop = ev_default_loop(0);
    settings.on_url = on_url;
    settings.on_message_complete = on_complete;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(atoi(argv[1]));
    inet_pton(AF_INET, "127.0.0.1", &a.sin_addr);
    if (bind(fd, (sockaddr *)&a, sizeof a) || listen(fd, 256)) {
        perror("listen");
        return 1;
    }
    ev_io accepts;
    ev_io_init(&accepts, on_accept, fd, EV_READ);
    ev_io_start(loop, &accepts);
    ev_run(loop, 0);
}

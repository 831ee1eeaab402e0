// Customer profiles over HTTP: RESTinio with a pool of threads, the profiles in memcached.
// A second part of the program takes the changes of the shop in every 600 ms, over several connections.
#include <restinio/all.hpp>
#include <libmemcached/memcached.h>
#include <thread>
#include <vector>
#include <string>
#include <cstdlib>
#include <chrono>

static const char *mc_host = "127.0.0.1";
static in_port_t mc_port;

struct Cache {                       // one connection, opened for one piece of work
    memcached_st *m;
    Cache() {
        m = memcached_create(nullptr);
        memcached_server_add(m, mc_host, mc_port);
        memcached_behavior_set(m, MEMCACHED_BEHAVIOR_TCP_NODELAY, 1);
        memcached_behavior_set(m, MEMCACHED_BEHAVIOR_POLL_TIMEOUT, 5000);
    }
    ~Cache() { memcached_free(m); }
    std::string get(const std::string &k) {
        size_t n = 0; uint32_t f; memcached_return_t rc;
        char *v = memcached_get(m, k.data(), k.size(), &n, &f, &rc);
        std::string s = v ? std::string(v, n) : std::string();
        free(v);
        return s;
    }
    bool set(const std::string &k, const std::string &v) {
        return memcached_set(m, k.data(), k.size(), v.data(), v.size(), 0, 0) == MEMCACHED_SUCCESS;
    }
};

// one part of the changes: written entry by entry, as they come from the shop's change feed
static void take_in(int part, int round) {
    Cache c;
    for (int i = 0; i < 50; i++) {
        int id = (part * 50 + i) % 1000;
        c.set("profile:" + std::to_string(id),
              "{\"id\":" + std::to_string(id) + ",\"round\":" + std::to_string(round) + ",\"city\":\"Lund\"}");
        std::this_thread::sleep_for(std::chrono::milliseconds(2));   // the feed's pace
    }
}

int main() {
    mc_port = std::atoi(std::getenv("MEMCACHED_PORT"));
    int parts = std::atoi(std::getenv("FEED_CONNECTIONS"));
    for (int p = 0; p < 20; p++) {   // first fill
        Cache c;
        for (int i = 0; i < 50; i++) c.set("profile:" + std::to_string(p * 50 + i), "{\"id\":" + std::to_string(p * 50 + i) + "}");
    }
    std::thread([parts] {
        for (int round = 1;; round++) {
            std::vector<std::thread> t;
            for (int p = 0; p < parts; p++) t.emplace_back(take_in, p, round);
            for (auto &x : t) x.join();
            std::this_thread::sleep_for(std::chrono::milliseconds(600));
        }
    }).detach();

    using router_t = restinio::router::express_router_t<>;
    auto router = std::make_unique<router_t>();
    router->http_get("/about", [](auto req, auto) {
        return req->create_response().append_header("Content-Type", "text/plain").set_body("customer profiles 1.4\n").done();
    });
    router->http_get("/profile/:id", [](auto req, auto params) {
        Cache c;
        auto v = c.get("profile:" + std::to_string(std::atoi(std::string(params["id"]).c_str()) % 1000));
        if (v.empty())
            return req->create_response(restinio::status_not_found()).set_body("no such profile\n").done();
        return req->create_response().append_header("Content-Type", "application/json").set_body(v).done();
    });
    router->non_matched_request_handler([](auto req) { return req->create_response(restinio::status_not_found()).done(); });

    struct traits : public restinio::default_traits_t { using request_handler_t = router_t; };
    restinio::run(restinio::on_thread_pool<traits>(32)
        .address("127.0.0.1").port(std::atoi(std::getenv("PORT")))
        .read_next_http_message_timelimit(std::chrono::seconds(60))
        .max_pipelined_requests(4)
        .request_handler(std::move(router)));
}

// prices: a price list in memory, served with the C++ REST SDK.
#include <cpprest/http_listener.h>
#include <cpprest/json.h>
#include <pplx/threadpool.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unistd.h>

using namespace web;
using namespace web::http;
using web::http::experimental::listener::http_listener;

struct PriceList {
    std::map<std::string, int> cents;           // by article and region
    std::map<std::string, int> cheapest;        // by article
};

static std::shared_mutex guard;
static PriceList prices;
static bool in_place = true;

// computes the list from the supplier's base prices and the margins of the regions
static void build(PriceList& list, int round) {
    list.cents.clear();
    list.cheapest.clear();
    for (int article = 0; article < 15000; article++) {
        std::string key = "art-" + std::to_string(article);
        for (int region = 0; region < 12; region++) {
            int cents = 500 + (article * 37 + region * 11 + round) % 9000;
            list.cents[key + "/" + std::to_string(region)] = cents;
            auto c = list.cheapest.emplace(key, cents).first;
            c->second = std::min(c->second, cents);
        }
    }
}

static void price(http_request req) {
    auto q = uri::split_query(req.request_uri().query());
    std::string article = q["article"], region = q["region"];
    json::value out = json::value::object();
    {
        std::shared_lock<std::shared_mutex> reading(guard);
        auto p = prices.cents.find(article + "/" + region);
        if (p == prices.cents.end()) {
            req.reply(status_codes::NotFound);
            return;
        }
        out["cents"] = json::value::number(p->second);
        out["from"] = json::value::number(prices.cheapest[article]);
    }
    out["article"] = json::value::string(article);
    req.reply(status_codes::OK, out);
}

static void import(http_request req) {
    static std::mutex importing;
    static int round = 0;
    std::lock_guard<std::mutex> one(importing);
    if (in_place) {
        std::unique_lock<std::shared_mutex> writing(guard);
        build(prices, ++round);
    } else {
        PriceList fresh;
        build(fresh, ++round);
        std::unique_lock<std::shared_mutex> writing(guard);
        std::swap(prices, fresh);
        writing.unlock();
    }
    req.reply(status_codes::OK, "imported\n");
}

int main(int argc, char** argv) {
    in_place = !getenv("IMPORT") || std::string(getenv("IMPORT")) == "in-place";
    build(prices, 0);
    crossplat::threadpool::initialize_with_threads(16);
    std::string at = "http://127.0.0.1:" + std::string(argv[1]);
    http_listener get_price(at + "/price"), post_import(at + "/import");
    get_price.support(methods::GET, price);
    post_import.support(methods::POST, import);
    get_price.open().wait();
    post_import.open().wait();
    pause();
}

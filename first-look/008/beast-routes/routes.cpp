// Postal tariffs by code prefix, served by Boost.Beast: one thread for each connection, one table for all.
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = boost::asio::ip::tcp;

struct Tariff { std::string code; int zone, cents; };

class Table {
    std::vector<Tariff> rows;
    mutable std::shared_mutex mu;
public:
    explicit Table(size_t n) {
        unsigned x = 12345;
        for (size_t i = 0; i < n; i++) {
            x = x * 1103515245u + 12345u;
            rows.push_back({std::to_string(100000000 + x % 900000000), int(x >> 28), int(x % 4000)});
        }
        sort_rows();
    }
    void sort_rows() {
        std::sort(rows.begin(), rows.end(), [](const Tariff &a, const Tariff &b) { return a.code < b.code; });
    }
    std::string find(const std::string &code) const {
        std::shared_lock<std::shared_mutex> hold(mu);
        auto it = std::lower_bound(rows.begin(), rows.end(), code, [](const Tariff &a, const std::string &c) { return a.code < c; });
        if (it == rows.end()) it = rows.begin();
        return "{\"code\":\"" + it->code + "\",\"zone\":" + std::to_string(it->zone) + ",\"cents\":" + std::to_string(it->cents) + "}";
    }
    std::string import(int zone, int percent) {           // a new price list for a zone
        std::unique_lock<std::shared_mutex> hold(mu);
        size_t n = 0;
        for (auto &t : rows)
            if (t.zone == zone) { t.cents += t.cents * percent / 100; t.code[8] = '0' + (t.code[8] - '0' + 1) % 10; n++; }
        sort_rows();
        return "{\"changed\":" + std::to_string(n) + "}";
    }
    std::string sheet(int zone, size_t count) const {     // a printed sheet: the first rows of a zone
        std::shared_lock<std::shared_mutex> hold(mu);
        std::string out = "[";
        for (auto &t : rows) {
            if (t.zone != zone) continue;
            if (out.size() > 1) out += ",";
            out += "{\"code\":\"" + t.code + "\",\"cents\":" + std::to_string(t.cents) + "}";
            if (--count == 0) break;
        }
        return out + "]";
    }
};

static void session(tcp::socket sock, Table &table) {
    beast::error_code ec;
    sock.set_option(tcp::no_delay(true), ec);
    beast::flat_buffer buf;
    for (;;) {
        http::request<http::string_body> req;
        http::read(sock, buf, req, ec);
        if (ec) break;
        std::string t(req.target());
        http::response<http::string_body> res{http::status::ok, req.version()};
        res.set(http::field::content_type, "application/json");
        auto arg = [&] { auto p = t.find('='); return p == std::string::npos ? std::string("1") : t.substr(p + 1); };
        if (t.rfind("/tariff", 0) == 0) res.body() = table.find(arg());
        else if (t.rfind("/import", 0) == 0) res.body() = table.import(std::atoi(arg().c_str()) % 16, 2);
        else if (t.rfind("/sheet", 0) == 0) res.body() = table.sheet(std::atoi(arg().c_str()) % 16, 2500);
        else res.body() = "{}";
        res.keep_alive(req.keep_alive());
        res.prepare_payload();
        http::write(sock, res, ec);
        if (ec || !req.keep_alive()) break;
    }
    sock.shutdown(tcp::socket::shutdown_both, ec);
}

int main(int argc, char **argv) {
    const char *n = std::getenv("ROWS");
    Table table(n ? std::atol(n) : 300000);
    boost::asio::io_context ioc{1};
    tcp::acceptor acc{ioc, {boost::asio::ip::make_address("127.0.0.1"), (unsigned short)std::atoi(argv[1])}};
    for (;;) {
        tcp::socket s{ioc};
        acc.accept(s);
        std::thread([&table, sock = std::move(s)]() mutable { session(std::move(sock), table); }).detach();
    }
}

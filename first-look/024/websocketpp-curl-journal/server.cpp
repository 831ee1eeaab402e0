// Journal service: entries are written by callers whom an external token service knows, and read by anyone.
// HTTP by websocketpp on an Asio io_service, which is run by JOURNAL_THREADS threads.
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <curl/curl.h>
#include <websocketpp/config/asio_no_tls.hpp>
#include <websocketpp/server.hpp>

struct config : public websocketpp::config::asio {
    static const websocketpp::log::level elog_level = websocketpp::log::elevel::none;
    static const websocketpp::log::level alog_level = websocketpp::log::alevel::none;
};
using server = websocketpp::server<config>;
using websocketpp::connection_hdl;

// threads of their own for what blocks
class blocking_pool {
public:
    explicit blocking_pool(int n) {
        for (int i = 0; i < n; i++) threads_.emplace_back([this] { work(); });
        for (auto& t : threads_) t.detach();
    }
    void post(std::function<void()> f) {
        { std::lock_guard<std::mutex> l(m_); q_.push_back(std::move(f)); }
        c_.notify_one();
    }
private:
    void work() {
        for (;;) {
            std::function<void()> f;
            {
                std::unique_lock<std::mutex> l(m_);
                c_.wait(l, [this] { return !q_.empty(); });
                f = std::move(q_.front());
                q_.pop_front();
            }
            f();
        }
    }
    std::mutex m_;
    std::condition_variable c_;
    std::deque<std::function<void()>> q_;
    std::vector<std::thread> threads_;
};

static std::string auth_url;

static size_t append(char* data, size_t size, size_t n, void* to) {
    static_cast<std::string*>(to)->append(data, size * n);
    return size * n;
}

// asks the token service; the connection of each thread is kept
static bool known(const std::string& token) {
    thread_local CURL* curl = curl_easy_init();
    std::string body;
    std::string url = auth_url + "/tokens/" + token;
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 5000L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
    return curl_easy_perform(curl) == CURLE_OK && body.find("\"active\":true") != std::string::npos;
}

class journal {
public:
    long write(const std::string& text) {
        std::lock_guard<std::mutex> l(m_);
        entries_.push_back(text);
        if (entries_.size() > 5000) entries_.pop_front();
        return ++last_;
    }
    std::string page(long n) {
        std::ostringstream out;
        std::lock_guard<std::mutex> l(m_);
        out << "{\"last\":" << last_ << ",\"entries\":[";
        size_t size = entries_.size(), from = size ? static_cast<size_t>(n * 20) % size : 0;
        for (size_t i = from; i < size && i < from + 20; i++) {
            if (i > from) out << ',';
            out << '"';
            for (char c : entries_[i]) {
                if (c == '"' || c == '\\') out << '\\';
                if (static_cast<unsigned char>(c) >= 0x20) out << c;
            }
            out << '"';
        }
        out << "]}";
        return out.str();
    }
private:
    std::mutex m_;
    std::deque<std::string> entries_;
    long last_ = 0;
};

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: server PORT TOKEN-PORT\n";
        return 2;
    }
    auth_url = std::string("http://127.0.0.1:") + argv[2];
    const char* t = std::getenv("JOURNAL_THREADS");
    int threads = t ? std::atoi(t) : 4;
    const char* d = std::getenv("JOURNAL_BLOCKING");
    bool dedicated = d && std::string(d) == "dedicated";
    curl_global_init(CURL_GLOBAL_ALL);

    journal log;
    for (int i = 0; i < 400; i++) log.write("entry no. " + std::to_string(i) + ": pump station checked, pressure normal");
    blocking_pool* pool = dedicated ? new blocking_pool(24) : nullptr;

    server s;
    s.clear_access_channels(websocketpp::log::alevel::all);
    s.clear_error_channels(websocketpp::log::elevel::all);
    s.init_asio();
    s.set_reuse_addr(true);
    s.set_listen_backlog(511);

    auto write = [&log](server::connection_ptr c) {
        if (!known(c->get_request_header("X-Token"))) {
            c->set_status(websocketpp::http::status_code::forbidden);
            c->set_body("{\"error\":\"unknown token\"}");
        } else {
            c->set_status(websocketpp::http::status_code::created);
            c->set_body("{\"entry\":" + std::to_string(log.write(c->get_request_body())) + "}");
        }
    };
    s.set_http_handler([&](connection_hdl h) {
        server::connection_ptr c = s.get_con_from_hdl(h);
        c->append_header("Content-Type", "application/json");
        c->append_header("Connection", "close");
        const std::string& method = c->get_request().get_method();
        const std::string& path = c->get_resource();
        if (method == "POST" && path == "/log") {
            if (!pool) {
                write(c);       // here, on the thread of the io_service
                return;
            }
            c->defer_http_response();
            pool->post([c, write, &s] {
                write(c);
                s.get_io_service().post([c] {
                    websocketpp::lib::error_code e;
                    c->send_http_response(e);
                });
            });
        } else if (method == "GET" && path.compare(0, 6, "/page/") == 0) {
            c->set_status(websocketpp::http::status_code::ok);
            c->set_body(log.page(std::atol(path.c_str() + 6)));
        } else if (path == "/health") {
            c->set_status(websocketpp::http::status_code::ok);
            c->set_body("{}");
        } else {
            c->set_status(websocketpp::http::status_code::not_found);
            c->set_body("{}");
        }
    });
    s.listen(websocketpp::lib::asio::ip::address_v4::loopback(), static_cast<uint16_t>(std::atoi(argv[1])));
    s.start_accept();
    std::vector<std::thread> run;
    for (int i = 0; i < threads; i++) run.emplace_back([&s] { s.run(); });
    for (auto& r : run) r.join();
}

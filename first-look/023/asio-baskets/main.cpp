// Baskets of a shop: kept in memcached for an hour, priced here. A thread for each connection of a client.
#include <asio.hpp>
#include <http_parser.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "memcache.hpp"

namespace {

struct Article {
    std::string name;
    int cents;
};

std::vector<Article> catalogue() {
    static const char* things[] = {"Kettle", "Lamp", "Chair", "Clock", "Shelf", "Mug", "Rug", "Mirror"};
    static const char* kinds[] = {"blue", "oak", "small", "steel", "linen"};
    std::mt19937 random(5);
    std::vector<Article> all;
    for (int i = 0; i < 2000; i++)
        all.push_back({std::string(things[i % 8]) + " " + kinds[i % 5] + " no. " + std::to_string(i), 250 + int(random() % 9000)});
    return all;
}

struct Request {
    std::string url, body;
    bool complete = false, keep = true;
    unsigned method = 0;
};

struct Response {
    int status = 200;
    std::string body;
};

using Basket = std::map<int, int>;  // article -> pieces

Basket parse(const std::string& text) {
    Basket basket;
    std::istringstream in(text);
    int article, pieces;
    char colon, comma;
    while (in >> article >> colon >> pieces) {
        basket[article] = pieces;
        in >> comma;
    }
    return basket;
}

std::string print(const Basket& basket) {
    std::string text;
    for (auto& [article, pieces] : basket) text += (text.empty() ? "" : ",") + std::to_string(article) + ":" + std::to_string(pieces);
    return text;
}

class Shop {
public:
    explicit Shop(std::vector<Article> articles) : articles_(std::move(articles)) {}

    Response handle(const Request& request, Memcache& cache) const {
        if (request.url == "/health") return {200, "{\"status\":\"up\"}"};
        int id = 0;
        if (std::sscanf(request.url.c_str(), "/baskets/%d", &id) != 1) return {404, "{\"message\":\"no such page\"}"};
        std::string key = "basket:" + std::to_string(id);
        Basket basket = parse(cache.get(key).value_or("7:1,19:2,400:1"));
        if (request.method == HTTP_POST) {
            int article = 0, pieces = 0;
            if (std::sscanf(request.body.c_str(), "article=%d&pieces=%d", &article, &pieces) != 2) return {400, "{\"message\":\"article, pieces\"}"};
            basket[article % int(articles_.size())] = pieces;
            while (basket.size() > 30) basket.erase(basket.begin());
            cache.set(key, print(basket), 3600);
        }
        return {200, price(id, basket)};
    }

private:
    std::string price(int id, const Basket& basket) const {
        long sum = 0;
        std::string lines;
        for (auto& [article, pieces] : basket) {
            const Article& a = articles_[article];
            sum += long(a.cents) * pieces;
            lines += (lines.empty() ? "" : ",") + std::string("{\"article\":") + std::to_string(article) + ",\"name\":\"" + a.name +
                     "\",\"pieces\":" + std::to_string(pieces) + ",\"cents\":" + std::to_string(a.cents) + "}";
        }
        return "{\"basket\":" + std::to_string(id) + ",\"lines\":[" + lines + "],\"sum\":" + std::to_string(sum) + "}";
    }

    std::vector<Article> articles_;
};

void serve(asio::io_context& io, asio::ip::tcp::socket socket, const Shop& shop, unsigned short cache_port, bool nodelay) {
    try {
        socket.set_option(asio::ip::tcp::no_delay(true));
        Memcache cache(io, cache_port, nodelay);
        http_parser parser;
        http_parser_settings settings;
        http_parser_settings_init(&settings);
        settings.on_url = [](http_parser* p, const char* at, size_t n) { static_cast<Request*>(p->data)->url.append(at, n); return 0; };
        settings.on_body = [](http_parser* p, const char* at, size_t n) { static_cast<Request*>(p->data)->body.append(at, n); return 0; };
        settings.on_message_complete = [](http_parser* p) {
            auto* r = static_cast<Request*>(p->data);
            r->complete = true;
            r->keep = http_should_keep_alive(p);
            r->method = p->method;
            http_parser_pause(p, 1);
            return 0;
        };
        http_parser_init(&parser, HTTP_REQUEST);
        char data[8192];
        std::string pending;
        for (;;) {
            Request request;
            parser.data = &request;
            while (!request.complete) {
                if (pending.empty()) pending.assign(data, socket.read_some(asio::buffer(data)));
                size_t n = http_parser_execute(&parser, &settings, pending.data(), pending.size());
                if (HTTP_PARSER_ERRNO(&parser) == HPE_PAUSED) {
                    http_parser_pause(&parser, 0);
                } else if (HTTP_PARSER_ERRNO(&parser) != HPE_OK) {
                    return;
                }
                pending.erase(0, n);
            }
            Response response = shop.handle(request, cache);
            std::string text = "HTTP/1.1 " + std::to_string(response.status) + (response.status == 200 ? " OK" : " Error") +
                               "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(response.body.size()) + "\r\n" +
                               (request.keep ? "" : "Connection: close\r\n") + "\r\n" + response.body;
            asio::write(socket, asio::buffer(text));
            if (!request.keep) return;
        }
    } catch (const asio::system_error& e) {
        if (e.code() != asio::error::eof && e.code() != asio::error::connection_reset) std::cerr << e.what() << std::endl;
    } catch (const std::exception& e) {
        std::cerr << e.what() << std::endl;
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const char* set = std::getenv("MEMCACHED_NODELAY");
    bool nodelay = set && std::string(set) == "1";
    unsigned short cache_port = std::stoi(argv[2]);
    Shop shop(catalogue());
    asio::io_context io;
    asio::ip::tcp::acceptor acceptor(io, {asio::ip::make_address("127.0.0.1"), static_cast<unsigned short>(std::stoi(argv[1]))});
    for (;;) {
        asio::ip::tcp::socket socket = acceptor.accept();
        std::thread(serve, std::ref(io), std::move(socket), std::cref(shop), cache_port, nodelay).detach();
    }
}

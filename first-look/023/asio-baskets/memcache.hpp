// A small client for memcached's text protocol: one blocking connection, used by one thread.
#pragma once
#include <asio.hpp>
#include <optional>
#include <stdexcept>
#include <string>

class Memcache {
public:
    Memcache(asio::io_context& io, unsigned short port, bool nodelay) : socket_(io) {
        socket_.connect({asio::ip::make_address("127.0.0.1"), port});
        if (nodelay) socket_.set_option(asio::ip::tcp::no_delay(true));
    }

    std::optional<std::string> get(const std::string& key) {
        write("get " + key + "\r\n");
        std::string head = line();
        if (head == "END") return std::nullopt;
        if (head.rfind("VALUE ", 0) != 0) throw std::runtime_error("memcached: " + head);
        std::size_t length = std::stoul(head.substr(head.rfind(' ') + 1));
        std::string value = exactly(length + 2);
        value.resize(length);
        if (line() != "END") throw std::runtime_error("memcached: no END");
        return value;
    }

    void set(const std::string& key, const std::string& value, int seconds) {
        write("set " + key + " 0 " + std::to_string(seconds) + " " + std::to_string(value.size()) + "\r\n");
        write(value);
        write("\r\n");
        std::string reply = line();
        if (reply != "STORED") throw std::runtime_error("memcached: " + reply);
    }

private:
    void write(const std::string& data) { asio::write(socket_, asio::buffer(data)); }

    std::string line() {
        std::size_t n = asio::read_until(socket_, asio::dynamic_buffer(buffer_), "\r\n");
        std::string text = buffer_.substr(0, n - 2);
        buffer_.erase(0, n);
        return text;
    }

    std::string exactly(std::size_t n) {
        if (buffer_.size() < n) asio::read(socket_, asio::dynamic_buffer(buffer_), asio::transfer_at_least(n - buffer_.size()));
        std::string text = buffer_.substr(0, n);
        buffer_.erase(0, n);
        return text;
    }

    asio::ip::tcp::socket socket_;
    std::string buffer_;
};

// Customer profiles of the shop, an Apache Thrift service (JSON over HTTP).
// The profiles live in memcached; every web node reads and writes them there.
#include <libmemcached/memcached.h>

#include <thrift/concurrency/ThreadFactory.h>
#include <thrift/protocol/TJSONProtocol.h>
#include <thrift/server/TThreadedServer.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/THttpClient.h>
#include <thrift/transport/THttpServer.h>
#include <thrift/transport/TServerSocket.h>
#include <thrift/transport/TSocket.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "Agreements.h"
#include "Profiles.h"

using namespace apache::thrift;
using namespace apache::thrift::transport;

namespace {

std::string env(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

const bool kTrace = std::getenv("PROFILES_TRACE") != nullptr;

// One connection to memcached per server thread.
class Cache {
 public:
  Cache() : handle_(memcached_create(nullptr)) {
    memcached_behavior_set(handle_, MEMCACHED_BEHAVIOR_TCP_NODELAY, 1);
    memcached_behavior_set(handle_, MEMCACHED_BEHAVIOR_CONNECT_TIMEOUT, 2000);
    memcached_server_add(handle_, "127.0.0.1", std::stoi(env("CACHE_PORT", "11211")));
  }
  ~Cache() { memcached_free(handle_); }

  void put(const std::string& key, const std::string& value) {
    memcached_return_t rc =
        memcached_set(handle_, key.data(), key.size(), value.data(), value.size(), 0, 0);
    if (rc != MEMCACHED_SUCCESS)
      throw std::runtime_error(std::string("memcached: ") + memcached_strerror(handle_, rc));
  }

  bool get(const std::string& key, std::string& value) {
    size_t length = 0;
    uint32_t flags = 0;
    memcached_return_t rc;
    char* found = memcached_get(handle_, key.data(), key.size(), &length, &flags, &rc);
    if (rc == MEMCACHED_NOTFOUND) return false;
    if (rc != MEMCACHED_SUCCESS)
      throw std::runtime_error(std::string("memcached: ") + memcached_strerror(handle_, rc));
    value.assign(found, length);
    std::free(found);
    return true;
  }

  static Cache& mine() {
    thread_local Cache cache;
    return cache;
  }

 private:
  memcached_st* handle_;
};

// One connection to the contracts host per server thread.
class Contracts {
 public:
  Contracts() : socket_(std::make_shared<TSocket>("127.0.0.1", std::stoi(env("CONTRACTS_PORT", "9090")))) {
    socket_->setConnTimeout(2000);
    socket_->setRecvTimeout(5000);
    socket_->setNoDelay(env("CONTRACTS_NODELAY", "1") == "1");
    auto http = std::make_shared<THttpClient>(socket_, "contracts", "/agreements");
    client_ = std::make_unique<profiles::AgreementsClient>(std::make_shared<protocol::TJSONProtocol>(http));
  }

  std::vector<int32_t> covered(int32_t customer, const std::vector<int32_t>& articles) {
    if (!socket_->isOpen()) socket_->open();
    auto start = std::chrono::steady_clock::now();
    std::vector<int32_t> result;
    try {
      client_->covered(result, customer, articles);
    } catch (const TTransportException&) {
      socket_->close();
      throw;
    }
    if (kTrace) {
      double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
      std::fprintf(stderr, "covered customer=%d articles=%zu ms=%.2f\n", customer, articles.size(), ms);
    }
    return result;
  }

  static Contracts& mine() {
    thread_local Contracts contracts;
    return contracts;
  }

 private:
  std::shared_ptr<TSocket> socket_;
  std::unique_ptr<profiles::AgreementsClient> client_;
};

std::string key(int32_t id) { return "profile:" + std::to_string(id); }

// A customer: wish list and the articles seen last. Trade customers buy under
// an agreement; what it does not cover is dropped from their lists.
struct Customer {
  bool trade = false;
  int32_t revision = 0;
  std::vector<int32_t> seen;
};

std::string encode(int32_t id, const Customer& c, const std::string& note) {
  std::string out = "{\"id\":" + std::to_string(id) + ",\"revision\":" + std::to_string(c.revision) +
                    ",\"note\":\"" + note + "\",\"seen\":[";
  for (size_t i = 0; i < c.seen.size(); ++i) {
    if (i) out += ',';
    out += "{\"article\":" + std::to_string(c.seen[i]) + ",\"list\":\"" + (i % 3 ? "seen" : "wish") + "\"}";
  }
  return out + "]}";
}

class Handler : public profiles::ProfilesIf {
 public:
  Handler() {
    for (int32_t id = 1; id <= 40; ++id) {
      size_t entries = static_cast<size_t>(20 + 3 * (id % 19));
      Customer c;
      c.trade = id % 7 == 3;
      for (size_t i = 0; i < entries; ++i) c.seen.push_back(10000 + static_cast<int32_t>((id * 7919 + i * 613) % 80000));
      customers_[id] = c;
      Cache::mine().put(key(id), encode(id, c, ""));
    }
  }

  void load(profiles::Summary& result, const int32_t id) override {
    std::string value;
    if (!Cache::mine().get(key(id), value)) missing(id);
    result.id = id;
    result.revision = std::atoi(value.c_str() + value.find("\"revision\":") + 11);
    result.bytes = static_cast<int32_t>(value.size());
  }

  void save(profiles::Summary& result, const int32_t id, const std::string& note) override {
    Customer now;
    {
      std::lock_guard<std::mutex> guard(mutex_);
      auto found = customers_.find(id);
      if (found == customers_.end()) missing(id);
      Customer& c = found->second;
      ++c.revision;
      c.seen[static_cast<size_t>(c.revision) % c.seen.size()] = 10000 + c.revision % 80000;
      now = c;
    }
    if (now.trade) now.seen = Contracts::mine().covered(id, now.seen);
    std::string value = encode(id, now, note);
    result.revision = now.revision;
    Cache::mine().put(key(id), value);
    result.id = id;
    result.bytes = static_cast<int32_t>(value.size());
    result.note = note;
  }

  void zones(std::vector<std::string>& result, const int32_t code) override {
    static const char* const names[] = {"north", "coast", "hills", "city", "island"};
    result.push_back(names[code % 5]);
    if (code % 2) result.push_back(names[(code / 5) % 5]);
  }

 private:
  [[noreturn]] static void missing(int32_t id) {
    profiles::NotFound error;
    error.id = id;
    throw error;
  }

  std::mutex mutex_;
  std::map<int32_t, Customer> customers_;
};

// Thrift's HTTP transport only takes POST; the load balancer probes with GET.
class ProbedHttpServer : public THttpServer {
 public:
  explicit ProbedHttpServer(std::shared_ptr<TTransport> inner) : THttpServer(inner) {}

 protected:
  bool parseStatusLine(char* status) override {
    if (std::string(status).compare(0, 4, "GET ") == 0) {
      static const std::string ok =
          "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n";
      transport_->write(reinterpret_cast<const uint8_t*>(ok.data()), static_cast<uint32_t>(ok.size()));
      transport_->flush();
      throw TTransportException(TTransportException::END_OF_FILE);
    }
    return THttpServer::parseStatusLine(status);
  }
};

class ProbedHttpServerFactory : public TTransportFactory {
 public:
  std::shared_ptr<TTransport> getTransport(std::shared_ptr<TTransport> inner) override {
    return std::make_shared<ProbedHttpServer>(std::make_shared<TBufferedTransport>(inner, 16384));
  }
};

}  // namespace

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  GlobalOutput.setOutputFunction([](const char*) {});
  auto processor = std::make_shared<profiles::ProfilesProcessor>(std::make_shared<Handler>());
  auto listener = std::make_shared<TServerSocket>("127.0.0.1", std::stoi(env("PORT", "8080")));
  listener->setAcceptBacklog(256);
  server::TThreadedServer server(processor, listener, std::make_shared<ProbedHttpServerFactory>(),
                                 std::make_shared<protocol::TJSONProtocolFactory>());
  server.serve();
  return 0;
}

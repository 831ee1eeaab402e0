// Settings of the shops: an HTTP server on KJ (Cap'n Proto's library), the data
// in PostgreSQL. The event loop serves HTTP; each of the database threads has
// its libpq connection and takes one request at a time.
#include <kj/async-io.h>
#include <kj/compat/http.h>
#include <kj/debug.h>
#include <kj/mutex.h>
#include <kj/thread.h>
#include <kj/vector.h>

#include <libpq-fe.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace {

std::string env(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

const bool kTrace = std::getenv("SETTINGS_TRACE") != nullptr;

struct Answer {
  uint status = 200;
  std::string body;
};

// One thread with its connection to PostgreSQL.
class DbThread {
 public:
  DbThread() : thread_([this]() { run(); }) {
    executor_.when([](auto& e) { return e != nullptr; },
                   [](auto&) {});
  }

  kj::Promise<Answer> read(int shop, int item) {
    return executor().executeAsync([this, shop, item]() {
      return one("select revision, data from settings where shop = $1 and item = $2", shop, item, nullptr);
    });
  }

  kj::Promise<Answer> change(int shop, int item, std::string data) {
    return executor().executeAsync([this, shop, item, data = std::move(data)]() {
      auto start = std::chrono::steady_clock::now();
      Answer answer = one("update settings set data = $3, revision = revision + 1, changed = now()"
                          " where shop = $1 and item = $2 returning revision, data",
                          shop, item, data.c_str());
      if (kTrace)
        std::fprintf(stderr, "change ms=%.1f\n",
                     std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
      return answer;
    });
  }

 private:
  const kj::Executor& executor() { return **executor_.lockShared(); }

  void run() {
    auto io = kj::setupAsyncIo();
    std::string where = "host=127.0.0.1 port=" + env("DB_PORT", "5432") + " user=postgres dbname=settings";
    connection_ = PQconnectdb(where.c_str());
    KJ_REQUIRE(PQstatus(connection_) == CONNECTION_OK, PQerrorMessage(connection_));
    *executor_.lockExclusive() = kj::getCurrentThreadExecutor().addRef();
    kj::Promise<void>(kj::NEVER_DONE).wait(io.waitScope);
  }

  Answer one(const char* sql, int shop, int item, const char* data) {
    std::string s = std::to_string(shop), i = std::to_string(item);
    const char* values[] = {s.c_str(), i.c_str(), data};
    std::unique_ptr<PGresult, void (*)(PGresult*)> result(
        PQexecParams(connection_, sql, data ? 3 : 2, nullptr, values, nullptr, nullptr, 0), PQclear);
    if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) {
      std::fprintf(stderr, "database: %s", PQerrorMessage(connection_));
      return {500, "{\"error\":\"database\"}"};
    }
    if (PQntuples(result.get()) == 0) return {404, "{\"error\":\"no such item\"}"};
    return {200, "{\"shop\":" + s + ",\"item\":" + i + ",\"revision\":" + PQgetvalue(result.get(), 0, 0) +
                     ",\"data\":\"" + PQgetvalue(result.get(), 0, 1) + "\"}"};
  }

  PGconn* connection_ = nullptr;
  kj::MutexGuarded<kj::Own<const kj::Executor>> executor_;
  kj::Thread thread_;
};

class Settings : public kj::HttpService {
 public:
  Settings(const kj::HttpHeaderTable& table, kj::HttpHeaderId type, size_t threads) : table_(table), type_(type) {
    for (size_t i = 0; i < threads; ++i) {
      threads_.push_back(std::make_unique<DbThread>());
      idle_.push_back(i);
    }
  }

  kj::Promise<void> request(kj::HttpMethod method, kj::StringPtr url, const kj::HttpHeaders&,
                            kj::AsyncInputStream& body, Response& response) override {
    if (url == "/alive") return send(response, {200, "{\"alive\":true}"});
    int shop = 0, item = 0, end = 0;
    if (std::sscanf(url.cStr(), "/shops/%d/items/%d%n", &shop, &item, &end) != 2 || url[end] != 0)
      return send(response, {404, "{\"error\":\"no such page\"}"});
    if (method == kj::HttpMethod::GET) {
      return thread()
          .then([this, shop, item](size_t n) {
            return threads_[n]->read(shop, item).attach(kj::defer([this, n]() { release(n); }));
          })
          .then([this, &response](Answer answer) { return send(response, answer); });
    }
    if (method == kj::HttpMethod::PUT) {
      return body.readAllText()
          .then([this, shop, item](kj::String text) {
            return thread().then([this, shop, item, text = std::string(text.cStr(), text.size())](size_t n) {
              return threads_[n]->change(shop, item, text).attach(kj::defer([this, n]() { release(n); }));
            });
          })
          .then([this, &response](Answer answer) { return send(response, answer); });
    }
    return send(response, {405, "{\"error\":\"method\"}"});
  }

 private:
  // The number of an idle database thread; waits while all are busy.
  kj::Promise<size_t> thread() {
    if (!idle_.empty()) {
      size_t n = idle_.front();
      idle_.pop_front();
      return n;
    }
    auto pair = kj::newPromiseAndFulfiller<size_t>();
    waiting_.push_back(kj::mv(pair.fulfiller));
    return kj::mv(pair.promise);
  }

  void release(size_t n) {
    while (!waiting_.empty()) {
      auto next = kj::mv(waiting_.front());
      waiting_.pop_front();
      if (next->isWaiting()) {
        next->fulfill(kj::mv(n));
        return;
      }
    }
    idle_.push_back(n);
  }

  kj::Promise<void> send(Response& response, Answer answer) {
    kj::HttpHeaders headers(table_);
    headers.set(type_, "application/json");
    auto text = kj::heapString(answer.body.data(), answer.body.size());
    auto stream = response.send(answer.status, answer.status == 200 ? "OK" : "Error", headers, text.size());
    auto writing = stream->write(text.begin(), text.size());
    return writing.attach(kj::mv(stream), kj::mv(text));
  }

  const kj::HttpHeaderTable& table_;
  kj::HttpHeaderId type_;
  std::vector<std::unique_ptr<DbThread>> threads_;
  std::deque<size_t> idle_;
  std::deque<kj::Own<kj::PromiseFulfiller<size_t>>> waiting_;
};

}  // namespace

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGTERM, [](int) { std::_Exit(0); });
  auto io = kj::setupAsyncIo();
  kj::HttpHeaderTable::Builder builder;
  kj::HttpHeaderId type = builder.add("Content-Type");
  auto table = builder.build();
  Settings settings(*table, type, std::stoul(env("DB_THREADS", "24")));

  kj::HttpServerSettings limits;
  limits.pipelineTimeout = 300 * kj::SECONDS;
  kj::HttpServer server(io.provider->getTimer(), *table, settings, limits);
  auto address = io.provider->getNetwork().parseAddress("127.0.0.1", std::stoul(env("PORT", "8080"))).wait(io.waitScope);
  auto listener = address->listen();
  server.listenHttp(*listener).wait(io.waitScope);
  return 0;
}

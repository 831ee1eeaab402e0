// Receipts of a till system on cxxtools' HTTP server. POST /receipts renders a
// receipt as XML and puts it into one of the archive's vaults (libcurl, by turn);
// POST /totals and GET /receipts/N work from memory.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <cxxtools/eventloop.h>
#include <cxxtools/http/reply.h>
#include <cxxtools/http/request.h>
#include <cxxtools/http/responder.h>
#include <cxxtools/http/server.h>
#include <cxxtools/http/service.h>
#include <cxxtools/jsondeserializer.h>
#include <cxxtools/jsonserializer.h>
#include <cxxtools/regex.h>
#include <cxxtools/serializationinfo.h>
#include <curl/curl.h>

namespace {

std::string setting(const char* name, const char* otherwise)
{
    const char* v = std::getenv(name);
    return v && *v ? v : otherwise;
}

struct Line
{
    std::string article;
    int pieces = 0;
    int cents = 0;
};

struct Receipt
{
    int till = 0;
    std::string customer;
    std::vector<Line> lines;

    long total() const
    {
        long sum = 0;
        for (const auto& l : lines)
            sum += long(l.pieces) * l.cents;
        return sum;
    }
};

void operator>>=(const cxxtools::SerializationInfo& si, Line& l)
{
    si.getMember("article") >>= l.article;
    si.getMember("pieces") >>= l.pieces;
    si.getMember("cents") >>= l.cents;
}

void operator>>=(const cxxtools::SerializationInfo& si, Receipt& r)
{
    si.getMember("till") >>= r.till;
    si.getMember("customer") >>= r.customer;
    si.getMember("lines") >>= r.lines;
}

struct Accepted
{
    long number;
    long total;
    std::string vault;
};

void operator<<=(cxxtools::SerializationInfo& si, const Accepted& a)
{
    si.addMember("number") <<= a.number;
    si.addMember("total") <<= a.total;
    si.addMember("vault") <<= a.vault;
}

std::string xml(long number, const Receipt& r)
{
    std::ostringstream out;
    out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<receipt number=\"" << number << "\" till=\"" << r.till
        << "\" customer=\"" << r.customer << "\">\n";
    for (const auto& l : r.lines)
        out << "  <line article=\"" << l.article << "\" pieces=\"" << l.pieces << "\" cents=\"" << l.cents << "\"/>\n";
    out << "  <total cents=\"" << r.total() << "\" tax=\"" << r.total() * 19 / 119 << "\"/>\n</receipt>\n";
    return out.str();
}

// One for each thread of the server; the handle keeps the connections to the vaults.
class Archive
{
    CURL* _curl = curl_easy_init();
    curl_slist* _headers = nullptr;
    std::vector<std::string> _vaults;
    static std::atomic<unsigned> _turn;

    struct Source
    {
        const std::string* text;
        size_t at;
    };

    static size_t read(char* to, size_t size, size_t n, void* p)
    {
        auto* s = static_cast<Source*>(p);
        size_t count = std::min(size * n, s->text->size() - s->at);
        std::memcpy(to, s->text->data() + s->at, count);
        s->at += count;
        return count;
    }

    static size_t ignore(char*, size_t size, size_t n, void*) { return size * n; }

public:
    Archive()
    {
        std::istringstream ports(setting("VAULTS", ""));
        for (std::string port; std::getline(ports, port, ',');)
            _vaults.push_back(port);
        _headers = curl_slist_append(_headers, "Content-Type: application/xml");
        if (setting("ARCHIVE_EXPECT", "on") == "off")
            _headers = curl_slist_append(_headers, "Expect:");
    }

    ~Archive()
    {
        curl_slist_free_all(_headers);
        curl_easy_cleanup(_curl);
    }

    std::string put(long number, const std::string& document)
    {
        const std::string& vault = _vaults[_turn++ % _vaults.size()];
        std::string url = "http://127.0.0.1:" + vault + "/receipts/" + std::to_string(number) + ".xml";
        Source source{&document, 0};
        curl_easy_reset(_curl);
        curl_easy_setopt(_curl, CURLOPT_URL, url.c_str());
        curl_easy_setopt(_curl, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(_curl, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(_curl, CURLOPT_HTTPHEADER, _headers);
        curl_easy_setopt(_curl, CURLOPT_READFUNCTION, read);
        curl_easy_setopt(_curl, CURLOPT_READDATA, &source);
        curl_easy_setopt(_curl, CURLOPT_INFILESIZE_LARGE, curl_off_t(document.size()));
        curl_easy_setopt(_curl, CURLOPT_WRITEFUNCTION, ignore);
        curl_easy_setopt(_curl, CURLOPT_TIMEOUT_MS, 5000L);
        curl_easy_setopt(_curl, CURLOPT_EXPECT_100_TIMEOUT_MS, 150L);
        auto begin = std::chrono::steady_clock::now();
        CURLcode rc = curl_easy_perform(_curl);
        long status = 0;
        curl_easy_getinfo(_curl, CURLINFO_RESPONSE_CODE, &status);
        if (const char* path = std::getenv("TRACE_LOG"))
        {
            if (FILE* f = std::fopen(path, "a"))
            {
                double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
                std::fprintf(f, "put %s %ld %.2f\n", vault.c_str(), status, ms);
                std::fclose(f);
            }
        }
        if (rc != CURLE_OK)
            throw std::runtime_error(curl_easy_strerror(rc));
        if (status != 201)
            throw std::runtime_error("the archive answered " + std::to_string(status));
        return vault;
    }
};

std::atomic<unsigned> Archive::_turn{0};

// The last receipts, for the till's display.
class Recent
{
    std::mutex _mutex;
    std::deque<std::pair<long, std::string>> _last;
    std::atomic<long> _number{1000};

public:
    long next() { return ++_number; }

    void add(long number, std::string document)
    {
        std::lock_guard<std::mutex> lock(_mutex);
        _last.emplace_back(number, std::move(document));
        if (_last.size() > 200)
            _last.pop_front();
    }

    std::string get(size_t back)
    {
        std::lock_guard<std::mutex> lock(_mutex);
        if (_last.empty())
            return "<none/>\n";
        return _last[_last.size() - 1 - back % _last.size()].second;
    }
};

Recent recent;

Receipt parse(const cxxtools::http::Request& request)
{
    std::istringstream in(request.bodyStr());
    cxxtools::JsonDeserializer json(in);
    Receipt receipt;
    json.deserialize(receipt);
    return receipt;
}

void answer(std::ostream& out, cxxtools::http::Reply& reply, const Accepted& a)
{
    reply.addHeader("Content-Type", "application/json");
    cxxtools::JsonSerializer json(out);
    json.serialize(a).finish();
    out << '\n';
}

struct PostReceipt : cxxtools::http::Responder
{
    using Responder::Responder;
    void reply(std::ostream& out, cxxtools::http::Request& request, cxxtools::http::Reply& reply) override
    {
        if (request.method() != "POST")
        {
            reply.addHeader("Content-Type", "application/xml");
            out << recent.get(std::strtoul(request.url().c_str() + request.url().rfind('/') + 1, nullptr, 10));
            return;
        }
        thread_local Archive archive;
        Receipt receipt = parse(request);
        long number = recent.next();
        std::string document = xml(number, receipt);
        std::string vault = archive.put(number, document);
        recent.add(number, std::move(document));
        answer(out, reply, Accepted{number, receipt.total(), vault});
    }
};

struct PostTotal : cxxtools::http::Responder
{
    using Responder::Responder;
    void reply(std::ostream& out, cxxtools::http::Request& request, cxxtools::http::Reply& reply) override
    {
        answer(out, reply, Accepted{0, parse(request).total(), ""});
    }
};

struct Health : cxxtools::http::Responder
{
    using Responder::Responder;
    void reply(std::ostream& out, cxxtools::http::Request&, cxxtools::http::Reply& reply) override
    {
        reply.addHeader("Content-Type", "text/plain");
        out << "ok\n";
    }
};

} // namespace

int main()
{
    try
    {
        curl_global_init(CURL_GLOBAL_ALL);
        cxxtools::EventLoop loop;
        cxxtools::http::Server server(loop, "127.0.0.1", std::stoi(setting("PORT", "8080")));
        server.minThreads(12);
        server.maxThreads(24);
        server.keepAliveTimeout(cxxtools::Milliseconds(60000));
        cxxtools::http::CachedService<PostReceipt> receipts;
        cxxtools::http::CachedService<PostTotal> totals;
        cxxtools::http::CachedService<Health> health;
        server.addService(cxxtools::Regex("^/receipts"), receipts);
        server.addService("/totals", totals);
        server.addService("/health", health);
        loop.run();
    }
    catch (const std::exception& e)
    {
        std::cerr << e.what() << std::endl;
        return 1;
    }
}

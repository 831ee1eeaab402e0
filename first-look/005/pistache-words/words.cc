// suggests the nearest words of a vocabulary: /suggest/<word>
#include <pistache/endpoint.h>
#include <pistache/http.h>
#include <pistache/router.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

using namespace Pistache;

static std::vector<std::string> vocabulary;

static int distance(const std::string& a, const std::string& b) {
    std::vector<int> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); j++) row[j] = j;
    for (size_t i = 1; i <= a.size(); i++) {
        int diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); j++) {
            int above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = above;
        }
    }
    return row[b.size()];
}

static void suggest(const Rest::Request& request, Http::ResponseWriter response) {
    auto word = request.param(":word").as<std::string>();
    std::vector<std::pair<int, const std::string*>> found;
    for (auto& w : vocabulary) found.emplace_back(distance(word, w), &w);
    std::partial_sort(found.begin(), found.begin() + 5, found.end(),
                      [](auto& a, auto& b) { return a.first != b.first ? a.first < b.first : *a.second < *b.second; });
    std::string body = "[";
    for (int i = 0; i < 5; i++) body += (i ? ",\"" : "\"") + *found[i].second + "\"";
    response.send(Http::Code::Ok, body + "]", MIME(Application, Json));
}

static void word(const Rest::Request& request, Http::ResponseWriter response) {
    auto w = request.param(":word").as<std::string>();
    bool known = std::binary_search(vocabulary.begin(), vocabulary.end(), w);
    response.send(Http::Code::Ok, known ? "{\"known\":true}" : "{\"known\":false}", MIME(Application, Json));
}

int main() {
    unsigned seed = 17;
    const std::string syllables[] = {"ka", "lo", "mi", "ren", "tos", "du", "bel", "sa", "vin", "er", "pol", "qui"};
    for (int i = 0; i < 9000; i++) {
        std::string w;
        for (int s = 0; s < 2 + i % 3; s++) seed = seed * 1103515245 + 12345, w += syllables[seed / 65536 % 12];
        vocabulary.push_back(w);
    }
    std::sort(vocabulary.begin(), vocabulary.end());
    Rest::Router router;
    Rest::Routes::Get(router, "/suggest/:word", Rest::Routes::bind(&suggest));
    Rest::Routes::Get(router, "/words/:word", Rest::Routes::bind(&word));
    Http::Endpoint server(Address("127.0.0.1", Port(atoi(std::getenv("PORT")))));
    server.init(Http::Endpoint::options().threads(4).flags(Tcp::Options::ReuseAddr | Tcp::Options::NoDelay));
    server.setHandler(router.handler());
    server.serve();
}

#include <Poco/Net/HTTPServer.h>
#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPServerRequest.h>
#include <Poco/Net/HTTPServerResponse.h>
#include <Poco/Net/HTTPServerParams.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/ThreadPool.h>
#include <Poco/Util/ServerApplication.h>
#include <iostream>
#include <map>
#include <string>
using namespace Poco::Net;

static std::map<int, std::string> people;

class Person : public HTTPRequestHandler {
    void handleRequest(HTTPServerRequest& req, HTTPServerResponse& res) override {
        std::string uri = req.getURI();
        int id = atoi(uri.c_str() + uri.rfind('/') + 1);
        auto it = people.find(id);
        if (it == people.end()) { res.setStatus(HTTPResponse::HTTP_NOT_FOUND); res.sendBuffer("{}", 2); return; }
        res.setContentType("application/json");
        res.sendBuffer(it->second.data(), it->second.size());
    }
};
class Routes : public HTTPRequestHandlerFactory {
    HTTPRequestHandler* createRequestHandler(const HTTPServerRequest&) override { return new Person; }
};
class App : public Poco::Util::ServerApplication {
    int main(const std::vector<std::string>& args) override {
        for (int i = 1; i <= 2000; i++)
            people[i] = "{\"id\":" + std::to_string(i) + ",\"name\":\"Person " + std::to_string(i) + "\",\"phone\":\"+32 9 555 " + std::to_string(1000 + i) + "\"}";
        int threads = std::stoi(args[1]), requests = std::stoi(args[2]);
        auto* p = new HTTPServerParams;
        p->setKeepAlive(true);
        p->setKeepAliveTimeout(Poco::Timespan(15, 0));
        p->setMaxKeepAliveRequests(requests);
        p->setMaxThreads(threads);
        p->setMaxQueued(100);
        Poco::ThreadPool pool(2, threads + 1);
        HTTPServer srv(new Routes, pool, ServerSocket(SocketAddress("127.0.0.1", std::stoi(args[0]))), p);
        srv.start();
        waitForTerminationRequest();
        srv.stop();
        return 0;
    }
};
POCO_SERVER_MAIN(App)

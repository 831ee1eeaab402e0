// The contracts host: which articles a trade customer's agreement covers.
#include <thrift/protocol/TJSONProtocol.h>
#include <thrift/server/TThreadedServer.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/THttpServer.h>
#include <thrift/transport/TServerSocket.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <vector>

#include "Agreements.h"

using namespace apache::thrift;
using namespace apache::thrift::transport;

class Handler : public profiles::AgreementsIf {
 public:
  void covered(std::vector<int32_t>& result, const int32_t customer, const std::vector<int32_t>& articles) override {
    for (int32_t article : articles)
      if ((article + customer) % 17 != 0) result.push_back(article);
  }
};

class HttpFactory : public TTransportFactory {
 public:
  std::shared_ptr<TTransport> getTransport(std::shared_ptr<TTransport> inner) override {
    return std::make_shared<THttpServer>(std::make_shared<TBufferedTransport>(inner, 16384));
  }
};

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::signal(SIGPIPE, SIG_IGN);
  GlobalOutput.setOutputFunction([](const char*) {});
  server::TThreadedServer server(std::make_shared<profiles::AgreementsProcessor>(std::make_shared<Handler>()),
                                 std::make_shared<TServerSocket>("127.0.0.1", std::atoi(argv[1])),
                                 std::make_shared<HttpFactory>(), std::make_shared<protocol::TJSONProtocolFactory>());
  server.serve();
  return 0;
}

require 'webrick'
require 'json'

PRICES = Hash.new { |h, id| h[id] = 1000 + id * 7 % 900 }
ROUNDS = Integer(ENV.fetch('ROUNDS'))

# mixed-radix walk over the discount ladder
def discount(id, rounds)
  x = id
  rounds.times { |i| x = (x * 1103515245 + 12345 + i) % 2147483648 }
  x % 40
end

server = WEBrick::HTTPServer.new(BindAddress: '127.0.0.1', Port: Integer(ARGV[0]), MaxClients: 100, AccessLog: [], DoNotReverseLookup: true)
server.mount_proc('/price') { |req, res| res.body = JSON.generate(cents: PRICES[req.query['id'].to_i]) }
server.mount_proc('/offer') { |req, res| res.body = JSON.generate(percent: discount(req.query['id'].to_i, ROUNDS)) }
server.mount_proc('/health') { |_req, res| res.body = 'ok' }
trap('TERM') { server.shutdown }
server.start

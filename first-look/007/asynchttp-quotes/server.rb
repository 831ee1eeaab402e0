# Quotes for parcels: every page asks the tariff service, over kept connections.
require 'async'
require 'async/http/server'
require 'async/http/client'
require 'async/http/endpoint'
require 'protocol/http/response'

PORT   = Integer(ENV.fetch('PORT'))
TARIFF = ENV.fetch('TARIFF_URL')
LIMIT  = Integer(ENV.fetch('TARIFF_CONNECTIONS', '16'))

def text(body, status = 200)
  Protocol::HTTP::Response[status, { 'content-type' => 'text/plain' }, [body]]
end

Async do
  tariff = Async::HTTP::Client.new(Async::HTTP::Endpoint.parse(TARIFF), retries: 1, connection_limit: LIMIT)
  endpoint = Async::HTTP::Endpoint.parse("http://127.0.0.1:#{PORT}")

  server = Async::HTTP::Server.for(endpoint) do |request|
    case request.path
    when '/health'
      text("ok\n")
    when %r{\A/quote/(\d+)\z}          # one parcel
      text("a parcel of #{$1} g: #{tariff.get("/tariff/#{$1}").read}")
    when %r{\A/yearly/(\d+)\z}         # all parcels of a customer in a year
      text("customer #{$1}: #{tariff.get("/yearly/#{$1}").read}")
    else
      text("no such page\n", 404)
    end
  end
  server.run
end

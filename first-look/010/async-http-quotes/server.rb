# frozen_string_literal: true
require 'async'
require 'async/semaphore'
require 'async/http/server'
require 'async/http/client'
require 'async/http/endpoint'
require 'json'

endpoint = Async::HTTP::Endpoint.parse("http://127.0.0.1:#{ARGV[0]}")
registry = Async::HTTP::Endpoint.parse("http://127.0.0.1:#{ENV.fetch('REGISTRY_PORT')}")
REGISTRY_LIMIT = Integer(ENV.fetch('REGISTRY_LIMIT', '4'))
LINES = Integer(ENV.fetch('LINES', '20'))
TEXT = { 'content-type' => 'application/json' }.freeze

def quote(rate, n)
  items = (1..LINES).map { |i| { line: i, net: (i * rate).round(2), gross: (i * rate * 1.19).round(2), note: "position #{i} of quote #{n}" } }
  JSON.generate(quote: n, items: items)
end

Async do
  client = Async::HTTP::Client.new(registry)
  polite = Async::Semaphore.new(REGISTRY_LIMIT)   # the registry asks its clients to be polite
  ask = lambda do |path|
    polite.acquire do
      response = client.get(path)
      response.read
    ensure
      response&.close
    end
  end
  app = lambda do |request|
    case request.path
    when '/health' then Protocol::HTTP::Response[200, {}, ['ok']]
    when %r{\A/quote/(\d+)} then Protocol::HTTP::Response[200, TEXT, [quote(ask.call("/rate/#{$1}").to_f, $1)]]
    when %r{\A/audit/(\d+)} then Protocol::HTTP::Response[200, TEXT, [JSON.generate(audit: ask.call("/history/#{$1}"))]]
    else Protocol::HTTP::Response[404, {}, ['not found']]
    end
  end
  Async::HTTP::Server.for(endpoint, &app).run
end

require "sinatra/base"
require "json"
require "redis"
require "connection_pool"

REDIS = ConnectionPool.new(size: ENV.fetch("POOL", "4").to_i, timeout: 5) { Redis.new(port: ENV["REDIS_PORT"].to_i) }

REDIS.with do |r|
  next if r.exists?("tag:0")
  40.times { |t| r.sadd("tag:#{t}", (0...8_000).map { |i| i * (2 + t % 5) }) }
end

class Related < Sinatra::Base
  set :environment, :production
  set :logging, false
  before { content_type :json }

  get("/health") { "{}" }

  get "/related/:id" do
    id = params["id"].to_i
    found = REDIS.with { |redis| redis.call("SINTERCARD", 2, "tag:#{id % 40}", "tag:#{(id + 7) % 40}") }
    { product: id, related: found }.to_json
  end
end

run Related

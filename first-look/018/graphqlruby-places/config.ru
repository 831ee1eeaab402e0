# Places and their reviews over GraphQL: Rack 2 on Puma, graphql-ruby 1.13; the members' profiles
# live in another service.
require "graphql"
require "json"
require "net/http"
require "rack"

module Members
  HOST = "127.0.0.1"
  PORT = Integer(ENV.fetch("MEMBERS_PORT"))
  LOG = ENV["TIMING_LOG"] && File.open(ENV["TIMING_LOG"], "a").tap { |f| f.sync = true }

  def self.http
    # thread variables, since graphql-ruby resolves fields in fibers of its own
    thread = Thread.current
    unless thread.thread_variable_get(:members_http)
      http = Net::HTTP.new(HOST, PORT)
      http.keep_alive_timeout = 60
      thread.thread_variable_set(:members_http, http.start)
    end
    thread.thread_variable_get(:members_http)
  end

  def self.get(path)
    Thread.current.thread_variable_set(:calls, Thread.current.thread_variable_get(:calls).to_i + 1)
    JSON.parse(http.request(Net::HTTP::Get.new(path)).body)
  end

  def self.one(id)
    get("/members/#{id}")
  end

  def self.many(ids)
    get("/members?ids=#{ids.join(',')}")
  end
end

class MemberSource < GraphQL::Dataloader::Source
  def fetch(ids)
    found = Members.many(ids).to_h { |member| [member["id"], member] }
    ids.map { |id| found[id] }
  end
end

CATEGORIES = %w[museum park market castle lake theatre].freeze
# Most places have one or two reviews, the two sights of the town have many.
REVIEWS = Hash.new do |all, id|
  count = { 204 => 22, 309 => 30 }.fetch(id, 1 + id % 2)
  all[id] = Array.new(count) { |i| { stars: 1 + (id + i) % 5, author: id * 40 + i, text: "visit no. #{i}" } }
end
(200..320).each { |id| REVIEWS[id] }

class MemberType < GraphQL::Schema::Object
  field :id, Integer, null: false, hash_key: "id"
  field :name, String, null: false, hash_key: "name"
end

class ReviewType < GraphQL::Schema::Object
  field :stars, Integer, null: false
  field :text, String, null: false
  field :author, MemberType, null: false

  def author
    if ENV["AUTHOR_LOADER"] == "dataloader"
      dataloader.with(MemberSource).load(object[:author])
    else
      Members.one(object[:author])
    end
  end
end

class PlaceType < GraphQL::Schema::Object
  field :id, Integer, null: false
  field :name, String, null: false
  field :category, String, null: false
  field :reviews, [ReviewType], null: false

  def reviews
    REVIEWS[object[:id]]
  end
end

class QueryType < GraphQL::Schema::Object
  field :place, PlaceType, null: true do
    argument :id, Integer, required: true
  end

  def place(id:)
    { id: id, name: "Place #{id}", category: CATEGORIES[id % CATEGORIES.size] }
  end
end

class PlacesSchema < GraphQL::Schema
  query QueryType
  use GraphQL::Dataloader
end

JSON_HEADERS = { "Content-Type" => "application/json" }.freeze

def json(status, value)
  text = JSON.generate(value)
  [status, JSON_HEADERS.merge("Content-Length" => text.bytesize.to_s), [text]]
end

app = lambda do |env|
  request = Rack::Request.new(env)
  case request.path_info
  when "/graphql"
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    Thread.current.thread_variable_set(:calls, 0)
    query = JSON.parse(request.body.read)
    result = PlacesSchema.execute(query["query"], variables: query["variables"])
    if Members::LOG
      ms = (Process.clock_gettime(Process::CLOCK_MONOTONIC) - started) * 1000
      Members::LOG.puts format("place=%s calls=%d ms=%.1f", query["variables"], Thread.current.thread_variable_get(:calls), ms)
    end
    json(200, result.to_h)
  when "/categories"
    json(200, CATEGORIES)
  when "/health"
    json(200, ok: true)
  else
    json(404, error: "not found")
  end
end

run app

# Search in snapshots of old indexes: blocks come from the blob store and stay in a file cache.
require "async"
require "async/http/client"
require "async/http/endpoint"
require "async/http/server"
require "json"
require "protocol/http/response"
require "uri"
require "zlib"

STORE = Async::HTTP::Endpoint.parse(ENV.fetch("BLOB_STORE"))
SEGMENTS = Integer(ENV.fetch("CACHE_SEGMENTS", "2")) # as many as processors
UNDER_LOCK = ENV["DOWNLOAD_UNDER_SEGMENT_LOCK"] == "1"

# One segment of the cache: least recently used goes first, under the lock of the segment.
class Segment
  attr_reader :lock

  def initialize(capacity)
    @capacity = capacity
    @entries = {}
    @lock = Mutex.new
  end

  # Call with the lock held.
  def compute(key)
    value = @entries.delete(key) || yield
    @entries[key] = value
    @entries.shift while @entries.size > @capacity
    value
  end
end

# An entry that downloads its block when it is first asked for it; only who wants that block waits.
class Block
  def initialize(&load)
    @load = load
    @lock = Mutex.new
  end

  def data
    @data || @lock.synchronize { @data ||= @load.call }
  end
end

class FileCache
  def initialize(store)
    @store = store
    @segments = Array.new(SEGMENTS) { Segment.new(400) }
  end

  def fetch(id)
    segment = @segments[Zlib.crc32(id) % @segments.size]
    if UNDER_LOCK
      segment.lock.synchronize { segment.compute(id) { download(id) } }
    else
      segment.lock.synchronize { segment.compute(id) { Block.new { download(id) } } }.data
    end
  end

  def download(id)
    response = @store.get("/blobs/#{id}")
    raise "blob store: #{response.status}" unless response.status == 200
    response.read
  ensure
    response&.close
  end
end

def reply(status, body)
  Protocol::HTTP::Response[status, { "content-type" => "application/json" }, [JSON.generate(body)]]
end

Async do
  cache = FileCache.new(Async::HTTP::Client.new(STORE, retries: 0))
  endpoint = Async::HTTP::Endpoint.parse("http://127.0.0.1:#{ENV.fetch("PORT")}")
  server = Async::HTTP::Server.for(endpoint) do |request|
    path, query = request.path.split("?", 2)
    case path
    when "/health" then reply(200, { ok: true })
    when "/search"
      params = URI.decode_www_form(query.to_s).to_h
      lines = cache.fetch(params.fetch("block")).each_line.select { |line| line.include?(params.fetch("term")) }
      reply(200, { block: params["block"], hits: lines.size, first: lines.first })
    else reply(404, { error: "not found" })
    end
  end
  server.run
end

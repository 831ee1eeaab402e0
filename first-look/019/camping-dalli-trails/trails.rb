# Hiking trails of a region: profiles of the trails are cached in memcached, huts and regions are not.
require 'camping'
require 'connection_pool'
require 'dalli'
require 'json'
require 'logger'

Camping.goes :Trails

module Trails
  SERVERS = ENV.fetch('MEMCACHED_PORTS').split(',').map { |p| "127.0.0.1:#{p}" }
  Dalli.logger = ::Logger.new($stderr, level: ::Logger::ERROR)
  CACHE = ConnectionPool.new(size: 6, timeout: 5) do
    Dalli::Client.new(SERVERS, namespace: 'trails-v3', threadsafe: false, failover: true, expires_in: 600,
                               socket_timeout: 0.15, socket_failure_delay: 0.01, down_retry_delay: 0.6)
  end
  TRACE = ENV['TRACE_CACHE'] && File.open(ENV['TRACE_CACHE'], 'a').tap { |f| f.sync = true }

  module Cache
    def cached(key)
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      value = CACHE.with { |c| c.fetch(key) { yield } }
      TRACE&.puts(format('%.3f %s %.1f', started, key, (Process.clock_gettime(Process::CLOCK_MONOTONIC) - started) * 1000))
      value
    end
  end

  module Store
    def self.trail(id)
      rnd = Random.new(id)
      height = 400.0 + rnd.rand(900)
      points = (0...240).map do |km|
        height += rnd.rand(-45.0..45.0)
        { 'km' => (km * 0.1).round(1), 'height' => height.round(1) }
      end
      { 'id' => id, 'name' => "Trail #{id}", 'length_km' => 24, 'profile' => points }
    end

    HUTS = (0...80).map { |i| { 'id' => i, 'name' => "Hut #{i}", 'beds' => 12 + i % 30, 'open' => i % 7 != 0 } }.freeze
    REGIONS = %w[north coast lakes ridge moor].map { |r| { 'region' => r, 'trails' => 40 } }.freeze
  end

  module Helpers
    include Cache

    def json(value)
      @headers['Content-Type'] = 'application/json'
      value.is_a?(String) ? value : JSON.generate(value)
    end
  end
end

module Trails::Controllers
  class Profile < R '/trails/(\d+)/profile'
    def get(id)
      json(cached("profile:#{id}") { JSON.generate(Trails::Store.trail(id.to_i)) })
    end
  end

  class Hut < R '/huts/(\d+)'
    def get(id)
      json(Trails::Store::HUTS[id.to_i % 80])
    end
  end

  class Regions < R '/regions'
    def get
      json(Trails::Store::REGIONS)
    end
  end
end

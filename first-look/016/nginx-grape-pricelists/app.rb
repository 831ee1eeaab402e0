# Wholesale price lists: a Grape API on Puma. Every so often the customers' price
# list (Markdown) is rendered to HTML with kramdown for the download area.
require 'grape'
require 'json'
require_relative 'render'

TRACE = ENV['PRICES_TRACE'] && File.open(ENV['PRICES_TRACE'], 'a').tap { |f| f.sync = true }
def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

PRICES = (1..500).to_h do |i|
  [i, { sku: i, name: "article #{i}", unit: %w[piece box pallet][i % 3],
        tiers: (1..12).map { |t| { from: t * 10, cents: 10_000 + i * 7 - t * 55 } } }]
end

class Prices < Grape::API
  format :json
  get('health') { { ok: true } }
  params { requires :sku, type: Integer }
  get 'prices/:sku' do
    price = PRICES[params[:sku]] or error!('no such article', 404)
    price
  end
end

module PriceList
  # html is replaced as a whole, so that a download never sees half a list
  class << self
    attr_accessor :html

    def start
      ENV['RENDERER'] == 'process' ? start_process : start_thread
    end

    def start_thread
      loop_with { |chapter| Render.chapter(chapter) }
    end

    def start_process
      pipe = IO.popen([RbConfig.ruby, File.join(__dir__, 'render.rb')], 'r+')
      loop_with do |chapter|
        pipe.puts(chapter.to_s)
        pipe.read(pipe.gets.to_i)
      end
    end

    def loop_with
      Thread.new do
        Thread.current.name = 'price-list'
        chapter = 0
        loop do
          sleep 0.55 + rand * 0.2
          t0 = now
          self.html = yield(chapter += 1)
          TRACE&.puts("render #{t0} #{now}")
        end
      end
    end
  end
end

class Traced
  def initialize(app) = @app = app

  def call(env)
    t0 = now
    c0 = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
    @app.call(env)
  ensure
    TRACE.puts("request #{t0} #{now} #{Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) - c0}")
  end
end

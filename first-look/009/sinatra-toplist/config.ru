# A shop's list of the most sold articles: PostgreSQL behind memcached.
require 'sinatra/base'
require 'dalli'
require 'pg'
require 'connection_pool'
require 'json'

DB = ConnectionPool.new(size: 24, timeout: 5) { PG.connect(host: '127.0.0.1', port: ENV['DB_PORT'], user: 'shop', dbname: 'postgres') }
CACHE = ConnectionPool.new(size: 24, timeout: 5) { Dalli::Client.new("127.0.0.1:#{ENV['CACHE_PORT']}") }
TTL = ENV.fetch('TTL', '600').to_i

TOP = <<~SQL
  SELECT article, sum(amount) AS sold, count(DISTINCT customer) AS customers
  FROM sales GROUP BY article ORDER BY sold DESC LIMIT 20
SQL

class Shop < Sinatra::Base
  before { content_type :json }

  get '/' do
    '{}'
  end

  get '/top' do
    kept = CACHE.with { |c| c.get('top') }
    unless kept
      kept = DB.with { |db| db.exec(TOP).to_a }
      CACHE.with { |c| c.set('top', kept, TTL) }
    end
    JSON.generate(articles: kept)
  end

  get '/article/:id' do
    row = DB.with { |db| db.exec_params('SELECT id, name, price FROM articles WHERE id = $1', [params[:id]]).first }
    JSON.generate(article: row)
  end
end

run Shop

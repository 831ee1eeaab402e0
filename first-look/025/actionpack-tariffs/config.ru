# Tariff service of a parcel firm: Action Pack routes, Active Record on PostgreSQL, Puma.
require "logger"
require "active_record"
require "action_controller"
require "action_dispatch"
require "active_support/concurrency/share_lock"
require_relative "rules"

ActiveRecord::Base.establish_connection(
  adapter: "postgresql", host: "127.0.0.1", port: ENV.fetch("DB_PORT").to_i,
  username: "tariffs", database: "tariffs", pool: 5, checkout_timeout: 0.8
)

class Zone < ActiveRecord::Base
  self.table_name = "zone"
end

class Discount < ActiveRecord::Base
  self.table_name = "discount"
end

RULES = Rules.new(
  file: ENV.fetch("RULES_FILE"), fresh: 1.2,
  connection_first: ENV["RULES_RELOAD"] == "connection-first"
)

class Api < ActionController::Metal
  def self.dispatch_as(name)
    action(name)
  end

  def health
    RULES.refresh
    answer(zones: Zone.connection_pool.with_connection { Zone.count })
  end

  # What a parcel costs: the zone from the database, the rules of the tariff.
  def quote
    weight = params[:weight].to_i
    ActiveRecord::Base.connection_pool.with_connection do
      zone = Zone.find_by!(code: params[:zone])
      result = RULES.read { |rules| rules.price(zone.code, zone.factor.to_f, weight) }
      answer(result.merge(zone: zone.name))
    end
  end

  # The list of a zone's surcharges.
  def surcharges
    ActiveRecord::Base.connection_pool.with_connection do
      zone = Zone.find_by!(code: params[:zone])
      list = RULES.read { |rules| rules.of(zone.code).first(20) }
      answer(zone: zone.name, surcharges: list)
    end
  end

  private

  def answer(value)
    self.status = 200
    self.content_type = "application/json"
    self.response_body = value.to_json
  end
end

# The rules are looked after at the beginning of a request, by the request that finds them old;
# a request that got no connection in time tries once more.
class KeepRulesFresh
  def initialize(app)
    @app = app
  end

  def call(env)
    RULES.refresh_if_old
    begin
      @app.call(env)
    rescue ActiveRecord::ConnectionTimeoutError
      @app.call(env)
    end
  end
end

ROUTES = ActionDispatch::Routing::RouteSet.new
ROUTES.draw do
  get "/health", to: Api.action(:health)
  get "/zones/:zone/quote", to: Api.action(:quote)
  get "/zones/:zone/surcharges", to: Api.action(:surcharges)
end

if ENV["TRACE"].to_s != ""
  Thread.new do
    loop do
      sleep 0.25
      s = ActiveRecord::Base.connection_pool.stat
      where = Thread.list.map { |t| (t.backtrace || []).grep(/start_sharing|wait_poll|start_exclusive/).first.to_s[/\w+'\z/] }.compact.tally
      warn "#{Time.now.strftime("%S.%L")} pool #{s.slice(:busy, :idle, :waiting)} threads #{where}"
    end
  end
end

use KeepRulesFresh
run ROUTES

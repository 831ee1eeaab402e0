# The rules of the tariff: a file of surcharges, with the discounts from the database over it.
# Requests read them under a share of the lock; who reloads them has the lock alone, as new rules
# are put in place class by class.
require "json"

class Rules
  Rule = Struct.new(:zone, :from, :to, :cents)

  class Set
    def initialize(lines)
      @by_zone = Hash.new { |h, k| h[k] = [] }
      lines.each do |line|
        zone, from, to, cents = line.split(";")
        @by_zone[zone] << Rule.new(zone, Integer(from), Integer(to), Integer(cents))
      end
      @by_zone.each_value { |rules| rules.sort_by!(&:from) }
      @discount = {}
    end

    attr_writer :discount

    def of(zone)
      @by_zone[zone]
    end

    def price(zone, factor, weight)
      hits = @by_zone[zone].select { |r| r.from <= weight && weight < r.to }
      cents = (hits.sum(&:cents) * factor * (1 - @discount.fetch(zone, 0))).round
      { weight: weight, cents: cents, rules: hits.size }
    end
  end

  def initialize(file:, fresh:, connection_first:)
    @lock = ActiveSupport::Concurrency::ShareLock.new
    @file, @fresh, @connection_first = file, fresh, connection_first
    @turn = Mutex.new
    @rules, @at = nil, 0
  end

  def read
    @lock.sharing { yield @rules }
  end

  def refresh_if_old
    refresh if now - @at > @fresh
  end

  def refresh
    return unless @turn.try_lock # another request is at it
    begin
      if @connection_first
        ActiveRecord::Base.connection_pool.with_connection { @lock.exclusive { load } }
      else
        @lock.exclusive { load }
      end
    rescue ActiveRecord::ConnectionTimeoutError => e
      warn "rules not reloaded: #{e.message}"
    ensure
      @at = now
      @turn.unlock
    end
  end

  private

  def load
    rules = IO.popen(["xz", "--decompress", "--stdout", @file]) { |lines| Set.new(lines.each_line(chomp: true)) }
    rules.discount = ActiveRecord::Base.connection_pool.with_connection do
      Discount.pluck(:zone_code, :part).to_h { |zone, part| [zone, part.to_f] }
    end
    @rules = rules
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

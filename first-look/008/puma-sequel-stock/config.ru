require 'json'
require 'sequel'

STOCK = if ENV['DATABASE_URL']
  db = Sequel.connect(ENV['DATABASE_URL'], max_connections: Integer(ENV.fetch('DB_CONNECTIONS', '4')))
  db
end

SECTIONS = Integer(ENV.fetch('SECTIONS', '0'))
CATALOG = Hash.new
def load_section(s)
  CATALOG[s] = Array.new(2_000) { |i| { sku: "S#{s}-#{i}", price: i * 1.1, tags: ["a#{i % 7}", "b#{i % 11}"] } }
end
SECTIONS.times { |s| load_section(s) }

JSON_HEAD = { 'content-type' => 'application/json' }
rounds = 0

run lambda { |env|
  q = Rack::Utils.parse_query(env['QUERY_STRING'])
  case env['PATH_INFO']
  when '/stock'
    row = STOCK[:stock].where(id: q['id'].to_i).first
    [200, JSON_HEAD.dup, [JSON.generate(row)]]
  when '/shelf'
    rows = STOCK[:stock].where { id < 400 }.all
    rows.each { |r| r[:label] = "#{r[:name]} (#{r[:quantity]})" }
    [200, JSON_HEAD.dup, [JSON.generate(rows.sort_by { |r| r[:label] })]]
  when '/turnover'
    row = STOCK.fetch('SELECT count(*) AS n, sum(quantity) AS total FROM stock, pg_sleep(0.25)').first
    [200, JSON_HEAD.dup, [JSON.generate(row)]]
  when '/article'
    item = CATALOG[q['id'].to_i % SECTIONS][q["id"].to_i]
    [200, JSON_HEAD.dup, [JSON.generate(item)]]
  when '/import'
    # a section arrives anew; the old one is given back at once so that the process does not grow
    load_section(rounds % SECTIONS)
    rounds += 1
    GC.start
    [200, JSON_HEAD.dup, [JSON.generate(section: rounds)]]
  else
    [200, { 'content-type' => 'text/plain' }, ['ok']]
  end
}

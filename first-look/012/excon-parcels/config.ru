require "json"
require "excon"
require "mustermann"

CARRIER = "http://127.0.0.1:#{ENV.fetch("CARRIER_PORT")}"
PARCEL = Mustermann.new("/parcel/:id")
HISTORY = Mustermann.new("/history/:id")

# one kept connection for each Puma thread; a refused call is made again after a pause
def carrier
  Thread.current[:carrier] ||= Excon.new(CARRIER, persistent: true, idempotent: true, retry_limit: 4,
    retry_interval: ENV.fetch("RETRY_S", "0.2").to_f)
end

def ask(path)
  JSON.parse(carrier.get(path: path, expects: 200).body)
end

def json(value)
  [200, { "Content-Type" => "application/json" }, [JSON.generate(value)]]
end

run lambda { |env|
  path = env["PATH_INFO"]
  if path == "/health"
    [200, { "Content-Type" => "text/plain" }, ["ok"]]
  elsif (m = PARCEL.params(path))
    state = ask("/state/#{m["id"]}")
    json({ parcel: m["id"], state: state["state"], depot: state["depot"] })
  elsif (m = HISTORY.params(path))
    json({ parcel: m["id"], scans: ask("/scans/#{m["id"]}")["scans"] })
  else
    [404, {}, []]
  end
}

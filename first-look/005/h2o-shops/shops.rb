# /near?lat=..&lon=.. : the five shops nearest to a place
srand(7) if respond_to?(:srand)
seed = 12345
SHOPS = (0...(ENV["SHOPS"] || "2000").to_i).map do |i|
  seed = (seed * 1103 + 12345) % 1000003
  lat = 45.0 + (seed % 9000) / 1000.0
  seed = (seed * 1103 + 12345) % 1000003
  lon = 2.0 + (seed % 9000) / 1000.0
  ["shop #{i}", lat, lon]
end

Proc.new do |env|
  q = {}
  env["QUERY_STRING"].split("&").each { |p| k, v = p.split("="); q[k] = v.to_f }
  lat, lon = q["lat"] || 48.0, q["lon"] || 6.0
  near = SHOPS.map { |name, la, lo|
    dy = (la - lat) * 111.2
    dx = (lo - lon) * 111.2 * Math.cos(la * 0.01745329)
    [Math.sqrt(dx * dx + dy * dy), name]
  }.sort { |a, b| a[0] <=> b[0] }.first(5)
  body = near.map { |d, name| "#{name}: #{(d * 10).round / 10.0} km\n" }.join
  [200, { "content-type" => "text/plain; charset=utf-8" }, [body]]
end

# A page that renders for some milliseconds of Ruby, or waits: MODE is "render" or "wait".
MODE = ENV.fetch("MODE")
WAIT_S = ENV.fetch("WAIT_S", "0").to_f
ROUNDS = ENV.fetch("ROUNDS", "0").to_i

run lambda { |env|
  if MODE == "wait" && env["PATH_INFO"] == "/report"
    sleep WAIT_S
  elsif MODE == "render"
    total = 0
    ROUNDS.times { |i| total += i % 7 }
  end
  [200, { "Content-Type" => "text/plain" }, ["ok\n"]]
}

require "json"

NAME = /\A([[:alpha:]]+['\- ]?)+\z/

run lambda { |env|
  q = Rack::Utils.parse_query(env["QUERY_STRING"])
  case env["PATH_INFO"]
  when "/check"
    ok = NAME.match?(q["name"].to_s)
    [200, { "content-type" => "application/json" }, [JSON.generate(valid: ok)]]
  else
    [200, { "content-type" => "text/plain" }, ["ok"]]
  end
}

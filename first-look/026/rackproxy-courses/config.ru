# Discovery service of a school: pages of courses of its own, and a search that a search engine answers.
require "json"
require "uri"
require "rack"
require "rack/proxy"

COURSES = (1..2000).to_h do |id|
  random = Random.new(id)
  [id, {
    id: id,
    title: "Course no. #{id}",
    weeks: 4 + id % 9,
    modules: Array.new(12) { |n| { n: n + 1, hours: 1 + random.rand(6), topic: "T#{random.rand(400)}" } },
  }]
end

# /search/... goes to the search engine, as it came; the rest is the service's own
class Search < Rack::Proxy
  def initialize(app, backend)
    @engine = URI(backend)
    super(app, backend: backend, streaming: false, read_timeout: 10)
  end

  def perform_request(env)
    return @app.call(env) unless env["PATH_INFO"].start_with?("/search")

    env["HTTP_HOST"] = "#{@engine.host}:#{@engine.port}"
    super(env)
  end

  def rewrite_response(triplet)
    status, headers, body = triplet
    headers = headers.reject { |name, _| %w[connection transfer-encoding].include?(name.downcase) }
    [status, headers, body]
  end
end

use Search, ENV.fetch("SEARCH_URL")

run(lambda do |env|
  case env["PATH_INFO"]
  when "/health"
    [200, { "content-type" => "text/plain" }, ["#{COURSES.size} courses"]]
  when %r{\A/courses/(\d+)\z}
    course = COURSES[Regexp.last_match(1).to_i]
    next [404, { "content-type" => "text/plain" }, ["no such course"]] unless course

    related = COURSES.values.select { |c| c[:weeks] == course[:weeks] }
                     .max_by(5) { |c| (c[:modules].map { |m| m[:topic] } & course[:modules].map { |m| m[:topic] }).size }
    body = JSON.generate(course.merge(hours: course[:modules].sum { |m| m[:hours] }, related: related.map { |c| c[:id] }))
    [200, { "content-type" => "application/json" }, [body]]
  else
    [404, { "content-type" => "text/plain" }, ["not found"]]
  end
end)

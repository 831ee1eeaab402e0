require "sinatra/base"
require "open3"

# Diagrams of documents: published ones are kept rendered, drafts are rendered when they are looked at.
class Diagrams < Sinatra::Base
  set :environment, :production
  set :logging, false

  def source(id)
    links = Random.new(id)
    edges = (0...185).map { "s#{links.rand(80)} -> s#{links.rand(80)}" }
    "digraph d#{id} { rankdir=LR; node [shape=box];\n#{edges.join(";\n")} }"
  end

  def render_svg(id)
    svg, status = Open3.capture2("dot", "-Tsvg", stdin_data: source(id))
    halt 500 unless status.success?
    svg
  end

  PUBLISHED = {}

  get("/health") { "ok" }

  get "/documents/:id/diagram.svg" do
    id = params["id"].to_i
    content_type "image/svg+xml"
    draft = (id % 7).zero?
    draft ? render_svg(id) : (PUBLISHED[id % 12] ||= render_svg(id % 12))
  end
end

warm = Diagrams.new!
12.times { |i| Diagrams::PUBLISHED[i] = warm.render_svg(i) }
run Diagrams

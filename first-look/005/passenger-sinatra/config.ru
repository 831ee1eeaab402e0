require 'sinatra/base'
require 'json'
require 'digest'

NEWS = Array.new(300) { |i| { id: i, title: "News #{i}", body: "Paragraph #{i} " * 30, tags: [i % 7, i % 11] } }

class Feed < Sinatra::Base
  set :environment, :production
  get('/health') { 'ok' }

  get '/feeds/:tag' do
    content_type :json
    tag = params[:tag].to_i
    items = NEWS.select { |n| n[:tags].include?(tag % 11) }.map { |n| n.merge(teaser: n[:body].split.first(12).join(' '), etag: Digest::SHA1.hexdigest(n[:body])) }
    JSON.generate(tag: tag, items: items)
  end
end

run Feed

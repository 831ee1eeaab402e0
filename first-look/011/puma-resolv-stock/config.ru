require "resolv"
require "net/http/persistent"
require "json"

DNS = Resolv::DNS.new(nameserver_port: [["127.0.0.1", ENV["DNS_PORT"].to_i]], search: [], ndots: 1)
HTTP = Net::HTTP::Persistent.new(name: "stock")
HTTP.idle_timeout = 60

# each depot registers its stock server in the DNS
def depot(number, path)
  srv = DNS.getresource("_stock._tcp.depot#{number}.shop.internal", Resolv::DNS::Resource::IN::SRV)
  HTTP.request(URI("http://127.0.0.1:#{srv.port}#{path}")).body
end

run lambda { |env|
  _, kind, number, item = env["PATH_INFO"].split("/")
  body = case kind
         when "stock" then { depot: number, pieces: depot(number, "/pieces/#{item}").to_i }.to_json
         when "shelf" then depot(number, "/shelf/#{item}")
         else "ok"
         end
  [200, { "content-type" => "application/json", "content-length" => body.bytesize.to_s }, [body]]
}

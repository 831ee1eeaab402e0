require 'webrick'

# A notice board. MaxClients places; a kept connection is waited on for KEEP seconds.
server = WEBrick::HTTPServer.new(
  BindAddress: '127.0.0.1', Port: Integer(ENV['PORT']),
  MaxClients: Integer(ENV['CLIENTS']), RequestTimeout: Float(ENV['KEEP']),
  DoNotReverseLookup: true, AccessLog: [], Logger: WEBrick::Log.new($stderr, WEBrick::Log::WARN)
)
server.mount_proc('/notice') do |req, res|
  sleep 0.005
  res['Content-Type'] = 'text/plain'
  res.body = "notice #{req.path}\n"
end
trap('TERM') { server.shutdown }
server.start

worker_processes 1
preload_app true
listen "127.0.0.1:#{ENV.fetch('PORT')}"
Rainbows! do
  use :ThreadSpawn
  worker_connections 64
  keepalive_timeout 30
end

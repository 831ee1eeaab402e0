bind "tcp://127.0.0.1:#{ENV.fetch('PORT')}"
threads 16, 16
environment "production"
persistent_timeout 65
rackup File.expand_path("config.ru", __dir__)

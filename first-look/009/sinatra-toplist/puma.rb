bind "tcp://127.0.0.1:#{ENV['PORT']}"
threads 24, 24
environment 'production'
quiet

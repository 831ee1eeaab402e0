bind "tcp://127.0.0.1:#{ENV.fetch('PORT')}"
threads 6, 6
workers 0
environment 'production'
quiet

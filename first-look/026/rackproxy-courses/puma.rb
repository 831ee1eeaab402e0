# Workers and threads; nginx in front of it speaks HTTP/1.0 to it, connections are not kept.
threads_of_one = Integer(ENV.fetch("THREADS"))
workers 3
threads threads_of_one, threads_of_one
queue_requests false
quiet

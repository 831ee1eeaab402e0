worker_processes 6
preload_app true

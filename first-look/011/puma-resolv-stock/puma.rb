threads 12, 12
environment "production"
log_requests false
quiet

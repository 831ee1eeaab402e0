threads 24, 24
# a thread with others' requests waiting does not look for a connection's next request itself
max_fast_inline 1

"""Lays the sessions of the last weeks, then runs PHP-FPM and nginx in the foreground until SIGTERM."""
import os, random, signal, socket, subprocess, sys, time

port, tmp, case = sys.argv[1:4]
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    fpm_port = s.getsockname()[1]

# what the visitors of three weeks have left (session lifetime is a month)
sessions = f"{tmp}/sessions"
os.makedirs(sessions, exist_ok=True)
rnd, now = random.Random(7), time.time()
for i in range(int(os.environ.get("OLD_SESSIONS", "32000"))):
    path = f"{sessions}/sess_{rnd.getrandbits(130):032x}"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(fd, b'zone|i:%d;seen|i:%d;' % (1 + i % 24, int(now) - i))
    os.close(fd)
    seen = now - rnd.random() * 21 * 86400
    os.utime(path, (seen, seen))

with open(f"{tmp}/fpm.conf", "w") as f:
    f.write(f"""[global]
error_log = {tmp}/fpm.log
daemonize = no
[www]
user = root
group = root
listen = 127.0.0.1:{fpm_port}
listen.backlog = 511
pm = static
pm.max_children = 10
clear_env = no
catch_workers_output = yes
php_admin_value[opcache.enable] = 1
php_admin_value[opcache.validate_timestamps] = 0
php_admin_value[session.save_handler] = files
php_admin_value[session.save_path] = {sessions}
php_admin_value[session.gc_maxlifetime] = 2592000
php_admin_value[session.gc_probability] = {os.environ.get("GC_PROBABILITY", "1")}
php_admin_value[session.gc_divisor] = 10
""")
with open(f"{tmp}/nginx.conf", "w") as f:
    f.write(f"""daemon off;
user root;
worker_processes 1;
pid {tmp}/nginx.pid;
error_log {tmp}/nginx-error.log;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {tmp}/body; proxy_temp_path {tmp}/proxy; fastcgi_temp_path {tmp}/fcgi;
  uwsgi_temp_path {tmp}/uwsgi; scgi_temp_path {tmp}/scgi;
  keepalive_requests 100000;
  server {{
    listen 127.0.0.1:{port} backlog=511;
    location / {{
      fastcgi_pass 127.0.0.1:{fpm_port};
      fastcgi_param SCRIPT_FILENAME {case}/app/index.php;
      fastcgi_param SCRIPT_NAME /index.php;
      fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param REQUEST_URI $request_uri;
      fastcgi_param QUERY_STRING $query_string;
      fastcgi_param CONTENT_TYPE $content_type;
      fastcgi_param CONTENT_LENGTH $content_length;
      fastcgi_param REMOTE_ADDR $remote_addr;
      fastcgi_param SERVER_PROTOCOL $server_protocol;
      fastcgi_param DOCUMENT_ROOT {case}/app;
    }}
  }}
}}
""")
procs = [subprocess.Popen(["php-fpm8.2", "-R", "-F", "-y", f"{tmp}/fpm.conf"])]
for _ in range(100):
    try:
        socket.create_connection(("127.0.0.1", fpm_port), 1).close()
        break
    except OSError:
        time.sleep(0.05)
procs.append(subprocess.Popen(["nginx", "-p", tmp, "-c", f"{tmp}/nginx.conf"]))


def stop(*_):
    for p in procs:
        p.terminate()


signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)
for p in procs:
    p.wait()

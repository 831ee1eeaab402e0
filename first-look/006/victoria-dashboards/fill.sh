#!/bin/sh
# fill.sh DIR : VictoriaMetrics storage with 300 hosts, four metrics, three hours at one sample in 30 s
set -e
mkdir -p "$1/data"
victoria-metrics -storageDataPath="$1/data" -httpListenAddr=127.0.0.1:18499 -retentionPeriod=1200 -loggerLevel=ERROR & P=$!
until curl -s -o /dev/null 127.0.0.1:18499/health; do sleep 0.3; done
python3 - <<'P' | curl -s --data-binary @- 127.0.0.1:18499/api/v1/import
import json
t0=1700000000000
for m in ("node_load","http_requests_total","memory_used_bytes","disk_io_total"):
    for h in range(300):
        v=[(h*37+i*(h%9+1))%5000 if m[0] in "nm" else i*(h%17+3) for i in range(360)]
        print(json.dumps({"metric":{"__name__":m,"host":"web%d"%h,"dc":"dc%d"%(h%6)},"values":v,"timestamps":[t0+30000*i for i in range(360)]}))
P
sleep 3; kill $P; wait $P || true

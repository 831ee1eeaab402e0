# two hours of request counters of a small fleet, every 15 s, in OpenMetrics text
import random
import sys

random.seed(11)
start = 1_760_000_000
out = sys.stdout
out.write("# TYPE http_requests counter\n")
for service in ("cart", "search", "pay", "home"):
    for pod in range(40):
        for code in ("200", "404", "500"):
            total = 0.0
            for i in range(480):
                total += random.randrange(0, 40)
                out.write(f'http_requests_total{{service="{service}",pod="{service}-{pod}",code="{code}"}} {total} {start + 15 * i}\n')
out.write("# TYPE up gauge\n")
for service in ("cart", "search", "pay", "home"):
    for i in range(480):
        out.write(f'up{{service="{service}"}} 1 {start + 15 * i}\n')
out.write("# EOF\n")

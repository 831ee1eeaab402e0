import http.client, os, sys

# reads the audit lines from stdin and posts them to the collector in batches
conn = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
batch = []
size = 0
while True:
    data = os.read(0, 65536)
    if not data:
        break
    batch.append(data)
    size += len(data)
    if size >= 192 * 1024:
        conn.request("POST", "/ingest", b"".join(batch))
        conn.getresponse().read()
        batch, size = [], 0

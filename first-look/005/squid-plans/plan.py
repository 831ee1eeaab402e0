# external ACL helper of squid: may this account call the API?
import http.client
import sys

service = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=10)
for line in sys.stdin:
    account = line.split()[0]
    try:
        service.request("GET", "/accounts/" + account)
        reply = service.getresponse()
        reply.read()
        answer = "OK" if reply.status == 204 else "ERR"
    except (OSError, http.client.HTTPException):
        service.close()
        answer = "BH"
    sys.stdout.write(answer + "\n")
    sys.stdout.flush()

"""A page that asks something else for a while, and takes its time to be imported."""

import os
import time

time.sleep(float(os.environ.get("IMPORT_S", "0")))
WAIT_S = float(os.environ.get("WAIT_S", "0"))


def app(environ, start_response):
    if WAIT_S and environ["PATH_INFO"] == "/report":
        time.sleep(WAIT_S)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "3")])
    return [b"ok\n"]

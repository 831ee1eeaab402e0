import os
import falcon, httpx
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_none

rates = httpx.Client(base_url="http://127.0.0.1:" + os.environ["RATES_PORT"], timeout=5)

@retry(stop=stop_after_attempt(6), wait=wait_none(), retry=retry_if_exception_type(httpx.HTTPStatusError))
def rate(currency):
    r = rates.get("/rate/" + currency)
    r.raise_for_status()
    return r.json()

class Convert:
    def on_get(self, req, resp, currency):
        resp.media = {"currency": currency, "rate": rate(currency)["rate"]}

class Health:
    def on_get(self, req, resp):
        resp.media = "ok"

app = falcon.App()
app.add_route("/convert/{currency}", Convert())
app.add_route("/health", Health())

"""Helpdesk: tickets and answers as HTMX fragments."""
import itertools
import os
import random
import zlib
from collections import deque

import uvicorn
from fasthtml.common import (H2, Article, Div, FastHTML, Header, Li, P, Small,
                             Ul, JSONResponse, to_xml, HTMLResponse)

from starlette.concurrency import run_in_threadpool

from mailbox_copies import Mailboxes

SAMPLE = int(os.environ.get("QUALITY_SAMPLE", "16"))
SUBJECTS = ["Invoice shows the wrong address", "Password reset mail missing",
            "Parcel arrived damaged", "Cannot change the plan", "Double charge",
            "App signs me out", "Export is empty", "Wrong language in mails"]
SENTENCES = ["I have attached the photo that you asked for.",
             "This happens since the update of last Tuesday.",
             "Could you please look at it again?",
             "We have changed the setting on our side.",
             "Thank you for the quick answer.",
             "The number on the receipt ends in 4417.",
             "It works on my phone, but not in the browser.",
             "Our accountant needs the document this week."]

rnd = random.Random(8)
tickets = {
    i: {"id": i, "subject": rnd.choice(SUBJECTS), "state": "open",
        "thread": deque((rnd.choice(SENTENCES) for _ in range(rnd.randint(12, 30))),
                        maxlen=40)}
    for i in range(1, 401)}
macros = [{"id": n, "title": s, "text": " ".join(SENTENCES[:n % 5 + 2])}
          for n, s in enumerate(SUBJECTS)]
answers = itertools.count(1)
boxes = Mailboxes(size=6)
app = FastHTML(secret_key="helpdesk")


def html(*parts):
    return HTMLResponse(to_xml(Div(*parts)))


@app.get("/health")
def health():
    return JSONResponse({"status": "up"})


@app.get("/tickets/{number}")
def show(number: int):
    ticket = tickets[number]
    return html(Article(Header(H2(ticket["subject"]), Small(ticket["state"])),
                        Ul(*[Li(line) for line in ticket["thread"]])))


@app.get("/macros")
def list_macros():
    return JSONResponse(macros)


@app.post("/tickets/{number}/answers")
async def answer(req, number: int):
    form = await req.json()
    return await run_in_threadpool(store_answer, number, form["agent"], form["text"])


def store_answer(number, agent, text):
    ticket = tickets[number]
    n = next(answers)
    ticket["thread"].append(text)
    # a share of all answers goes to the quality team
    if zlib.crc32(b"answer %d" % n) % 100 < SAMPLE:
        boxes.store(ticket, agent, text)
    return html(Li(P(text), Small(f"answer {n} by {agent}")))


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]),
                log_level="warning", access_log=False, timeout_keep_alive=75)

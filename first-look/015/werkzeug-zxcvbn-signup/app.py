"""Sign-up form's helper: Werkzeug application, password strength by zxcvbn."""
import json
import os
import time

from werkzeug.exceptions import BadRequest, HTTPException
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response
from zxcvbn import zxcvbn

LONGEST = int(os.environ["SCORE_CHARACTERS"])
TRACE = os.environ.get("TRACE_FILE")
trace = open(TRACE, "a", buffering=1) if TRACE else None
zxcvbn("warm up", user_inputs=["a"])

urls = Map([
    Rule("/signup/strength", endpoint="strength", methods=["POST"]),
    Rule("/signup/policy", endpoint="policy", methods=["GET"]),
    Rule("/health", endpoint="health"),
])
POLICY = {"min_length": 8, "min_score": 2, "languages": ["en", "de", "fr"]}


def strength(request):
    data = request.get_json()
    password = data.get("password", "")
    if not 1 <= len(password) <= 72:
        raise BadRequest("password must have 1 to 72 characters")
    began = time.perf_counter()
    cpu = time.thread_time()
    result = zxcvbn(password[:LONGEST], user_inputs=["bookclub", "signup"])
    if trace:
        trace.write("score %d characters %.1f ms cpu %.1f\n" % (
            len(password), (time.perf_counter() - began) * 1000, (time.thread_time() - cpu) * 1000))
    return {"score": result["score"], "ok": result["score"] >= POLICY["min_score"],
            "hint": result["feedback"]["warning"]}


def policy(request):
    return POLICY


def health(request):
    return {"ok": True}


views = {"strength": strength, "policy": policy, "health": health}


@Request.application
def application(request):
    try:
        endpoint, args = urls.bind_to_environ(request.environ).match()
        return Response(json.dumps(views[endpoint](request)), mimetype="application/json")
    except HTTPException as e:
        return e

"""A small spelling service: words are loaded when the worker starts."""
import hashlib
from webob import Request, Response
from webob.dec import wsgify
from webob.exc import HTTPNotFound


def build(size):
    index = {}
    for i in range(size):
        word = hashlib.md5(str(i).encode()).hexdigest()[:9]
        for k in range(len(word)):
            index.setdefault(word[:k] + word[k + 1:], []).append(word)
    return index


INDEX = build(15000)


@wsgify
def app(req: Request):
    if req.path_info == "/spell":
        key = hashlib.md5(req.params.get("w", "1").encode()).hexdigest()[:9]
        near = set()
        for k in range(len(key)):
            near.update(INDEX.get(key[:k] + key[k + 1:], ()))
        return Response(json_body={"near": sorted(near)})
    if req.path_info == "/":
        return Response(text="dictionary\n")
    raise HTTPNotFound()

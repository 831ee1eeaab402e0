import asyncio
import hashlib
import hmac
from microdot.asgi import Microdot

app = Microdot()
SECRET = b"a secret of the service"


def derive(user):
    return hashlib.pbkdf2_hmac("sha256", user.encode(), SECRET, 6000).hex()


@app.get("/")
async def index(request):
    return "tokens\n"


@app.get("/token/<user>")
async def token(request, user):
    return {"user": user, "token": await asyncio.to_thread(derive, user)}


@app.get("/check/<user>")
async def check(request, user):
    return {"user": user, "sig": hmac.new(SECRET, user.encode(), "sha256").hexdigest()}

import os, time
from contextlib import asynccontextmanager
import anyio.to_thread
from fastapi import FastAPI


@asynccontextmanager
async def lifespan(app):
    anyio.to_thread.current_default_thread_limiter().total_tokens = int(os.environ["TOKENS"])
    yield

app = FastAPI(lifespan=lifespan)


@app.get("/")
def home():
    return {"hello": "world"}


@app.get("/export")
def export():
    time.sleep(0.25)          # the old report system answers in about a quarter of a second
    return {"rows": [{"n": i} for i in range(50)]}

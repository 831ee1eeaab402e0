"""Archive of documents."""
import asyncio
import os
import random
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import aiofiles
import uvicorn
from esmerald import Esmerald, Gateway, get

from replication import replicate

THREADS = int(os.environ.get("EXECUTOR_THREADS", "5"))
TIMING = os.environ.get("TIMING_LOG")
WORDS = """contract invoice clause party supplier delivery payment notice term
annex schedule warranty liability price index review signature renewal""".split()

folder = tempfile.mkdtemp(prefix="archive-")
index = {}
paths = []
executor = None


def write_documents():
    rnd = random.Random(11)
    for number in range(1, 201):
        path = os.path.join(folder, f"{number}.txt")
        words = [rnd.choice(WORDS) for _ in range(rnd.randint(900, 2400))]
        with open(path, "w") as file:
            file.write(" ".join(words))
        paths.append(path)
        for word in set(words[:6]):
            index.setdefault(word, []).append(number)


async def start():
    global executor
    executor = ThreadPoolExecutor(max_workers=THREADS)
    asyncio.get_running_loop().set_default_executor(executor)
    start.task = asyncio.create_task(replicate(paths))


@get("/health")
async def health() -> dict:
    return {"status": "up"}


@get("/words/{word}")
async def words(word: str) -> dict:
    return {"word": word, "documents": index.get(word, [])}


@get("/documents/{number}")
async def document(number: int) -> dict:
    t0 = time.perf_counter()
    queued = executor._work_queue.qsize() if TIMING else 0
    async with aiofiles.open(os.path.join(folder, f"{number}.txt")) as file:
        text = await file.read()
    if TIMING:
        with open(TIMING, "a") as log:
            log.write(f"document queued={queued} took={1e3 * (time.perf_counter() - t0):.2f}\n")
    return {"number": number, "words": text.count(" ") + 1, "text": text[:4000]}


if __name__ == "__main__":
    write_documents()
    routes = [Gateway(handler=h) for h in (health, words, document)]
    app = Esmerald(routes=routes, on_startup=[start], enable_openapi=False)
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]), loop="asyncio",
                log_level="warning", access_log=False, timeout_keep_alive=75)

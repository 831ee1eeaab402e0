"""Copies changed documents into the object store, some at a time."""
import asyncio
import os
import random

import urllib3

STORE = f"http://127.0.0.1:{os.environ['STORE_PORT']}/documents/"
BATCH = 5

pool = urllib3.PoolManager(maxsize=BATCH)


def upload(path):
    with open(path, "rb") as file:
        answer = pool.request("PUT", STORE + os.path.basename(path), body=file.read(),
                              timeout=10)
    if answer.status != 201:
        raise RuntimeError(f"the store answered {answer.status}")


async def replicate(paths):
    """Runs as long as the server; urllib3 blocks, so it goes to threads."""
    while True:
        await asyncio.sleep(random.uniform(0.40, 0.60))
        changed = random.sample(paths, BATCH)
        await asyncio.gather(*(asyncio.to_thread(upload, path) for path in changed))

"""The region of dogpile.cache that keeps the lists of bestsellers."""
import os
from concurrent.futures import ThreadPoolExecutor

from dogpile.cache import make_region

_refresher = ThreadPoolExecutor(2, thread_name_prefix="refresh")


def refresh_in_background(cache, somekey, creator, mutex):
    def run():
        try:
            cache.set(somekey, creator())
        finally:
            mutex.release()
    _refresher.submit(run)


region = make_region(
    async_creation_runner=refresh_in_background if os.environ["CACHE_REFRESH"] == "background" else None,
).configure("dogpile.cache.memory", expiration_time=1.0)

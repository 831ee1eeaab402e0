import os
import re

from mosec import Server, Worker

WORDS = {w: i % 7 for i, w in enumerate("please send back refund broken late parcel invoice address change thanks order colour size".split())}


class Tagger(Worker):
    """Gives each message of a batch its tags."""

    def forward(self, data):
        out = []
        for message in data:
            scores = [0] * 7
            for n in range(1, 4):
                for w in re.findall(r"[a-z]+", message["text"].lower()):
                    scores[WORDS.get(w, hash(w) % 7)] += n
            out.append({"tag": scores.index(max(scores)), "scores": scores})
        return out


if __name__ == "__main__":
    server = Server()
    server.append_worker(
        Tagger,
        num=1,
        max_batch_size=int(os.environ.get("BATCH", "32")),
        max_wait_time=int(os.environ.get("BATCH_WAIT_MS", "10")),
    )
    server.run()

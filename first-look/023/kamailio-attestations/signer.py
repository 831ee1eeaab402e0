"""Log signer: each second it takes a batch of queued leaves off the queue, gives them their numbers, writes the
nodes of the Merkle tree above them and the new head, all in one transaction (REPEATABLE READ).
signer.py PORT DB_PORT DELETE_BY, where DELETE_BY is "hash" (tree and leaf hash, as the code has done since
duplicates are known by their hash) or "index" (all fields of the queue's index)."""
import hashlib
import socket
import sys
import time

import pymysql

PORT, DB, BY = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
BATCH, TREE = 700, 1


def connect():
    for _ in range(300):
        try:
            return pymysql.connect(host="127.0.0.1", port=DB, user="log", password="log", database="attest", autocommit=False)
        except pymysql.MySQLError:
            time.sleep(0.1)
    sys.exit("no database")


def cycle(con):
    began = time.time()
    with con.cursor() as c:
        c.execute("SELECT size FROM tree_head WHERE tree_id = %s FOR UPDATE", (TREE,))
        size = c.fetchone()[0]
        c.execute("SELECT queue_ts, leaf_hash FROM unsequenced WHERE tree_id = %s ORDER BY queue_ts LIMIT %s", (TREE, BATCH))
        leaves = c.fetchall()
        if not leaves:
            con.commit()
            return
        if BY == "hash":
            marks = ",".join(["%s"] * len(leaves))
            c.execute(f"DELETE FROM unsequenced WHERE leaf_hash IN ({marks}) AND tree_id = %s", [h for _, h in leaves] + [TREE])
        else:
            for ts, h in leaves:
                c.execute("DELETE FROM unsequenced WHERE tree_id = %s AND queue_ts = %s AND leaf_hash = %s", (TREE, ts, h))
        for i, (_, h) in enumerate(leaves):
            seq = size + i
            c.execute("INSERT INTO sequenced VALUES (%s, %s, %s)", (TREE, seq, h))
            # the node of each level above the leaf is read and written again
            level, idx, digest = 0, seq, hashlib.sha256(b"\0" + h).digest()
            while level < 10:
                c.execute("REPLACE INTO node VALUES (%s, %s, %s, %s)", (TREE, level, idx, digest))
                if idx % 2 == 0:
                    break
                c.execute("SELECT hash FROM node WHERE tree_id = %s AND level = %s AND idx = %s", (TREE, level, idx - 1))
                left = c.fetchone()
                digest = hashlib.sha256(b"\1" + (left[0] if left else b"") + digest).digest()
                level, idx = level + 1, idx // 2
        c.execute("UPDATE tree_head SET size = %s, root = %s WHERE tree_id = %s", (size + len(leaves), digest, TREE))
        con.commit()
    print(f"sequenced {len(leaves)} in {(time.time() - began) * 1000:.0f} ms", flush=True)


con = connect()
listener = socket.create_server(("127.0.0.1", PORT))  # its health port
due = time.time()
while True:
    try:
        cycle(con)
    except pymysql.MySQLError as e:
        print("signer:", e, flush=True)
        con.rollback()
    due += 1.0
    time.sleep(max(0.05, due - time.time()))
    due = max(due, time.time() - 1)

"""Copies of answers for the quality team, stored in its IMAP mailbox."""
import email.message
import email.utils
import imaplib
import os
import queue
import socket
import time

IMAP_PORT = int(os.environ["IMAP_PORT"])
NODELAY = os.environ.get("IMAP_NODELAY", "0") == "1"
TIMING = os.environ.get("TIMING_LOG")
FOLDER = "Quality"


class Mailbox(imaplib.IMAP4):
    def _create_socket(self, timeout):
        sock = super()._create_socket(timeout)
        if NODELAY:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock


class Mailboxes:
    """A few logged-in connections that the worker threads take turns with."""

    def __init__(self, size):
        self.free = queue.LifoQueue()
        for _ in range(size):
            box = Mailbox("127.0.0.1", IMAP_PORT)
            box.login("quality", "quality")
            box.create(FOLDER)
            self.free.put(box)

    def store(self, ticket, agent, text):
        message = email.message.EmailMessage()
        message["From"] = f"{agent}@helpdesk.example"
        message["To"] = "quality@helpdesk.example"
        message["Subject"] = f"[#{ticket['id']}] {ticket['subject']}"
        message["Date"] = email.utils.formatdate()
        message.set_content(text + "\n\n" + "\n".join(
            f"> {line}" for line in ticket["thread"]))
        data = message.as_bytes()
        t0 = time.perf_counter()
        box = self.free.get()
        t1 = time.perf_counter()
        try:
            status, _ = box.append(FOLDER, None, None, data)
            if status != "OK":
                raise RuntimeError("mailbox refused the copy")
        finally:
            self.free.put(box)
        if TIMING:
            t2 = time.perf_counter()
            with open(TIMING, "a") as log:
                log.write(f"append bytes={len(data)} wait={1e3 * (t1 - t0):.2f} "
                          f"append={1e3 * (t2 - t1):.2f}\n")

"""Receives webhooks on a free port of this machine, and says `listening on PORT` on standard error.

usage: webhook_receiver.py FOLDER [CERTIFICATE KEY]

FOLDER gets a file for each request, as JSON. Before each answer, FOLDER/replies.json is read, if it is there. It has the
`secret` that the library of Standard Webhooks verifies with, a `status`, and `headers`. With `fails`, each id is answered
503 for so many times first.
"""

import collections
import http.server
import json
import pathlib
import ssl
import sys
import threading
import time

from standardwebhooks.webhooks import Webhook

FOLDER = pathlib.Path(sys.argv[1])
lock = threading.Lock()
tries = collections.Counter()
count = 0


def is_verified(secret, body, headers):
    try:
        Webhook(secret).verify(body, headers)
        return True
    except Exception:
        return False


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global count
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        path = FOLDER / "replies.json"
        replies = json.loads(path.read_text()) if path.exists() else {}
        with lock:
            count += 1
            number = count
            tries[self.headers["webhook-id"]] += 1
            fails = tries[self.headers["webhook-id"]] <= replies.get("fails", 0)
        status = 503 if fails else replies.get("status", 200)
        request = {
            "time": time.time(),
            "path": self.path,
            "id": self.headers["webhook-id"],
            "timestamp": int(self.headers["webhook-timestamp"]),
            "signatures": self.headers["webhook-signature"].split(" "),
            "isVerified": "secret" in replies and is_verified(replies["secret"], body, dict(self.headers)),
            "contentType": self.headers["Content-Type"],
            "body": body,
            "status": status,
        }
        partial = FOLDER / f"{number}.part"
        partial.write_text(json.dumps(request))
        partial.rename(FOLDER / f"{number}.json")
        self.send_response(status)
        for name, value in replies.get("headers", {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        (FOLDER / "followed").touch()
        self.send_error(404)

    def log_message(self, *_):
        pass


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(f"listening on {server.server_port}", file=sys.stderr, flush=True)
    server.serve_forever()

"""Plays Apple's and Google's push services over HTTP/2 and TLS on a free port, and says `listening on PORT` on standard error.

usage: push_server.py FOLDER CERTIFICATE KEY

FOLDER/requests.jsonl gets a line for each request. FOLDER/script.json, read for each, may have

- `devices`: for a device token a list of answers, of which each is used once, and the last one for ever;
- `sandbox`: the same for paths below /sandbox;
- `all`: such a list for all other tokens;
- `goaway`: after so many requests of a connection, it gets a GOAWAY, and ends once its streams are done;
- `dies`: after so many requests, a connection ends without a word.

An answer is `{"status", "reason", "timestamp", "error", "headers"}`, or "silence". Without any, it is 200.

`POST /token` gives an access token for an assertion that FOLDER/public.pem verifies. Google's device tokens are in bodies.
"""

import asyncio
import base64
import json
import pathlib
import ssl
import sys
import time
import urllib.parse

import cryptography.exceptions
import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

FOLDER = pathlib.Path(sys.argv[1])
CONTENT = ("reason", "timestamp", "error", "access_token", "expires_in")
log = open(FOLDER / "requests.jsonl", "a", buffering=1)
used = {}
connections = 0


def decoded(text):
    return base64.urlsafe_b64decode(text + "==")


def access(body):
    """The answer to a request for an access token, by RFC 7523."""
    form = urllib.parse.parse_qs(body.decode())
    head, claims, signature = form["assertion"][0].split(".")
    key = serialization.load_pem_public_key((FOLDER / "public.pem").read_bytes())
    try:
        key.verify(decoded(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
    except cryptography.exceptions.InvalidSignature:
        return {"status": 400, "error": "invalid_grant"}
    if form["grant_type"] != ["urn:ietf:params:oauth:grant-type:jwt-bearer"]:
        return {"status": 400, "error": "unsupported_grant_type"}
    stated = json.loads(decoded(claims))
    if not stated["iat"] < stated["exp"] <= stated["iat"] + 3600 or "firebase.messaging" not in stated["scope"]:
        return {"status": 400, "error": "invalid_scope"}
    return {"status": 200, "access_token": f"access-{stated['iss']}", "expires_in": 3599}


def script():
    try:
        return json.loads((FOLDER / "script.json").read_text())
    except FileNotFoundError:
        return {}


def answer(token, rules):
    """The next answer for a device."""
    name, answers = (token, rules["devices"][token]) if token in rules.get("devices", {}) else ("", rules.get("all", []))
    if not answers:
        return {"status": 200}
    # A new script begins anew.
    key = (name, json.dumps(answers))
    number = used.get(key, 0)
    used[key] = number + 1
    return answers[min(number, len(answers) - 1)]


class Peer(asyncio.Protocol):
    def connection_made(self, transport):
        global connections
        connections += 1
        self.number = connections
        self.transport = transport
        self.requests = 0
        self.streams = {}
        self.open = 0
        self.is_leaving = False
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.http.local_settings = h2.settings.Settings(
            client=False, initial_values={h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 1000}
        )
        self.http.initiate_connection()
        self.flush()

    def flush(self):
        self.transport.write(self.http.data_to_send())

    def data_received(self, data):
        try:
            events = self.http.receive_data(data)
        except h2.exceptions.ProtocolError:
            self.transport.close()
            return
        for event in events:
            if isinstance(event, h2.events.RequestReceived):
                self.streams[event.stream_id] = (dict(event.headers), bytearray())
            elif isinstance(event, h2.events.DataReceived):
                self.streams[event.stream_id][1].extend(event.data)
                self.http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                self.handle(event.stream_id)
            elif isinstance(event, h2.events.StreamReset):
                self.streams.pop(event.stream_id, None)
        self.flush()

    def handle(self, stream):
        headers, body = self.streams.pop(stream)
        rules = script()
        self.requests += 1
        path = headers[":path"]
        token = json.loads(body)["message"].get("token") if path.endswith(":send") else path.rsplit("/", 1)[-1]
        if self.is_leaving:
            # Behind the last stream that the GOAWAY named.
            self.http.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
            return
        if path.startswith("/sandbox/"):
            rules = rules | {"devices": rules.get("sandbox", {})}
        reply = access(body) if path == "/token" and "token" not in rules.get("devices", {}) else answer(token, rules)
        line = {
            "time": time.time(),
            "connection": self.number,
            "path": path,
            "headers": {name: value for name, value in headers.items() if not name.startswith(":")},
            "body": body.decode(),
            "answer": reply,
        }
        log.write(json.dumps(line) + "\n")
        if self.requests == rules.get("dies"):
            self.transport.abort()
            return
        if reply != "silence":
            fields = [(":status", str(reply["status"])), ("apns-id", headers.get("apns-id", ""))]
            fields += list(reply.get("headers", {}).items())
            content = {name: reply[name] for name in CONTENT if name in reply}
            self.http.send_headers(stream, fields, end_stream=not content)
            if content:
                self.http.send_data(stream, json.dumps(content).encode(), end_stream=True)
        if self.requests == rules.get("goaway"):
            self.is_leaving = True
            self.http.close_connection(last_stream_id=stream)
            asyncio.get_running_loop().call_later(0.2, self.transport.close)


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    context.set_alpn_protocols(["h2"])
    server = await asyncio.get_running_loop().create_server(Peer, "127.0.0.1", 0, ssl=context)
    print(f"listening on {server.sockets[0].getsockname()[1]}", file=sys.stderr, flush=True)
    await server.serve_forever()


asyncio.run(main())

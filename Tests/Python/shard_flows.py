"""Plays each call of the service once or a few times, and marks in PostgreSQL's log and write-ahead log where each begins.

python3 Tests/Python/shard_flows.py PROGRAM FOLDER, by bin/shards; with --wal COUNT it measures the write-ahead log instead.
"""

import base64
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from shard_tables import query

PROJECT = Path(__file__).resolve().parents[2]
SETTLING_SECONDS = 0.6
SETTINGS = {
    "API_AUTH_NAME": "app", "API_AUTH_PASSWORD": "0123456789abcdef0123456789abcdef", "SECRET_KEY_BASE": "s" * 64,
    "DIRECTORY": "members", "PASSWORD_HASH_COST": "10", "LOG_LEVEL": "error", "DATABASE_POOL_SIZE": "2",
    "RATE_LIMIT_SIGNUP_PER_ADDRESS": "100000/1h", "RATE_LIMIT_UPLOADS_PER_USER": "100000/1h",
    "RATE_LIMIT_RECORD_WRITES_PER_USER": "1000000/10m", "RATE_LIMIT_INBOX_SENDS_PER_USER": "1000000/10m",
    "RATE_LIMIT_EXPORTS_PER_USER": "100/1h", "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "100000/15m",
    "RATE_LIMIT_SIGNIN_PER_ADDRESS": "100000/15m", "RATE_LIMIT_PASSWORD_TRIES_PER_ACCOUNT": "100000/15m",
}


class Service:
    """`selfie dev` in a folder of its own."""

    def __init__(self, program, folder):
        self.folder, self.program = folder, program
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "migrations").symlink_to(PROJECT / "migrations")
        (folder / "schema.json").write_text((PROJECT / "docs/examples/schema.json").read_text())
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.environment = {**os.environ, **SETTINGS}
        self.output = open(folder / "output.txt", "w")
        self.process = subprocess.Popen(
            [program, "dev", "--port", str(self.port)], cwd=folder, env=self.environment,
            stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True,
        )
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=2)
                break
            except OSError:
                if self.process.poll() is not None:
                    sys.exit((folder / "output.txt").read_text())
                time.sleep(0.1)
        # `dev` names its database in this file while it runs.
        named = next(path for path in (folder / ".selfie").iterdir() if path.is_file() and "DATABASE_URL" in path.read_text())
        self.database = re.search(r"DATABASE_URL\W+(postgresql:[^\s\"']+)", named.read_text().replace("\\/", "/"))[1]

    def command(self, *arguments, text=""):
        done = subprocess.run(
            [self.program, *arguments], cwd=self.folder, env={**self.environment, "DATABASE_URL": self.database,
                "OBJECTS_PATH": str(self.folder / ".selfie/objects")},
            input=text, capture_output=True, text=True, check=True,
        )
        return done.stdout.strip()

    def call(self, method, path, token=None, body=None, headers=None, timeout=30):
        """The status, the headers and the body; a body that is no bytes is sent as JSON."""
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = f"Bearer {token}"
        else:
            pair = f"{SETTINGS['API_AUTH_NAME']}:{SETTINGS['API_AUTH_PASSWORD']}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        if body is not None and not isinstance(body, bytes):
            headers["Content-Type"], body = "application/json", json.dumps(body).encode()
        url = path if path.startswith("http") else f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, method=method, data=body, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def ok(self, *arguments, expecting=(200,), **named):
        status, headers, body = self.call(*arguments, **named)
        if status not in expecting:
            raise SystemExit(f"{arguments[:2]} was answered {status}: {body[:300]}")
        kind = headers.get("Content-Type") or ""
        return (json.loads(body) if body and kind.startswith("application/json") else body), headers

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


class Player:
    """The users, and what they do."""

    def __init__(self, service):
        self.service = service
        self.password = service.command("encrypt-password", text="correct horse battery")
        self.users = {}

    def sign_up(self, name):
        email = f"{name}@example.com"
        self.service.ok("POST", "/api/signup", body={"full_name": f"{name} Lovelace", "email": email, "password": self.password})

    def sign_in(self, name):
        body = {"email": f"{name}@example.com", "password": self.password}
        answer, _ = self.service.ok("POST", "/api/signin", body=body)
        user = self.users.setdefault(name, {"count": 0})
        user["token"] = answer["api_authtoken"]
        return user

    def add(self, name):
        self.sign_up(name)
        user = self.sign_in(name)
        user["id"] = self.do(name, "GET", "/api/me")[0]["id"]
        return user

    def do(self, name, method, path, *arguments, **named):
        return self.service.ok(method, path, self.users[name]["token"], *arguments, **named)

    def new_id(self, name):
        self.users[name]["count"] += 1
        return f"{name}-{self.users[name]['count']}"

    def upload(self, name):
        picture = (PROJECT / "docs/example.jpg").read_bytes()
        body = (
            b'--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nA selfie\r\n'
            b'--b\r\nContent-Disposition: form-data; name="image"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n\r\n'
            + picture + b"\r\n--b--\r\n"
        )
        return self.do(name, "POST", "/api/upload_photo", body, {"Content-Type": "multipart/form-data; boundary=b"})[0]

    def put(self, name, collection, data, id=None, to=None, **members):
        id = id or self.new_id(name)
        inbox = f"/members/{self.users[to]['id']}" if to else ""
        self.do(name, "PUT", f"/api{inbox}/records/{collection}/{id}", {"data": data, **members}, expecting=(200, 201))
        return id

    def follow(self, name, count, cause):
        """Follows a stream of changes until it has brought as many events as `cause` makes by as many calls."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.service.port}/api/changes?since=now",
            headers={"Authorization": f"Bearer {self.users[name]['token']}", "Accept": "text/event-stream"},
        )
        with urllib.request.urlopen(request, timeout=30) as stream:
            while not stream.readline().startswith(b"event: synced"):
                pass
            for _ in range(count):
                cause()
                while not stream.readline().startswith(b"event: change"):
                    pass


def flows(p):
    """Pairs of a flow's name and what it does once."""
    a, b, c = (p.add(name) for name in ("ada", "bob", "cyd"))
    for name in ("ada", "bob", "cyd"):
        p.service.command("roles", "add", "team", f"{name}@example.com")
    p.service.command("roles", "add", "leads", "ada@example.com")
    numbers = iter(range(10_000_000))
    kept = {}

    def next_user():
        kept["name"] = f"user{next(numbers)}"
        return kept["name"]

    yield "sign-up", lambda: p.sign_up(next_user())
    yield "sign-in", lambda: p.sign_in("ada")
    wrong = {"email": "ada@example.com", "password": p.service.command("encrypt-password", text="wrong")}
    yield "sign-in, wrong password", lambda: p.service.ok("POST", "/api/signin", body=wrong, expecting=(401,))
    yield "upload a photo", lambda: kept.update(photo=p.upload("ada"))
    yield "list photos", lambda: kept.update(tag=p.do("ada", "GET", "/api/get_photos?limit=20")[1]["ETag"])
    yield "list photos, unchanged", lambda: p.do(
        "ada", "GET", "/api/get_photos?limit=20", headers={"If-None-Match": kept["tag"]}, expecting=(304,))
    yield "open a photo", lambda: p.service.ok("GET", kept["photo"]["image_url"])
    yield "open a small photo, first", (
        lambda: kept.update(other=p.upload("bob")),
        lambda: p.service.ok("GET", kept["other"]["image_url"] + "&size=small"))
    yield "open a small photo", lambda: p.service.ok("GET", kept["other"]["image_url"] + "&size=small")
    yield "delete a photo", (
        lambda: kept.update(other=p.upload("ada")),
        lambda: p.do("ada", "DELETE", f"/api/delete_photo?photo_id={kept['other']['random_id']}"))
    yield "read the profile", lambda: p.do("ada", "GET", "/api/me")
    yield "change the profile", lambda: p.do("ada", "PATCH", "/api/me", {"title": f"no {next(numbers)}"})
    yield "search the directory", lambda: p.do("ada", "GET", "/api/members?query=b")
    yield "read a member", lambda: p.do("ada", "GET", f"/api/members/{b['id']}")

    def block():
        p.do("cyd", "PUT", f"/api/blocks/{b['id']}")

    def unblock():
        p.do("cyd", "DELETE", f"/api/blocks/{b['id']}")

    # A second block, and a second end of it, would write nothing.
    yield "block a member", (lambda: (block(), unblock()), block)
    yield "unblock a member", (block, unblock)
    yield "list sessions", lambda: p.do("ada", "GET", "/api/sessions")
    p.put("ada", "houses", {"address": "first"})
    yield "private record, create", lambda: p.put("ada", "houses", {"address": "1 Main Street"})
    yield "private record, change", lambda: p.put("ada", "houses", {"address": f"{next(numbers)} Main Street"}, id="ada-1")
    yield "private record, read", lambda: p.do("ada", "GET", "/api/records/houses/ada-1")
    yield "private records, list", lambda: p.do("ada", "GET", "/api/records/houses")
    yield "private records, list by index", lambda: p.do(
        "ada", "GET", "/api/records/houses?where=%7B%22address%22%3A%221%20Main%20Street%22%7D")
    yield "private record, delete", (
        lambda: kept.update(gone=p.put("ada", "houses", {"address": "gone"})),
        lambda: p.do("ada", "DELETE", f"/api/records/houses/{kept['gone']}"))
    yield "private record with a photo, create", lambda: p.put(
        "ada", "houses", {"address": "2 Main Street", "photo": kept["photo"]["random_id"]})
    thread = p.put("ada", "threads", {}, readers=[b["id"]], writers=[c["id"]])
    yield "acl record with 2 readers, create", lambda: p.put("ada", "threads", {}, readers=[b["id"]], writers=[c["id"]])
    yield "message in a thread of 3, create", lambda: p.put("cyd", "messages", {"threadId": thread, "text": "Hello"})
    yield "messages of a thread, list", lambda: p.do(
        "bob", "GET", f"/api/records/messages?where=%7B%22threadId%22%3A%22{thread}%22%7D")
    yield "message to an inbox", lambda: kept.update(message=p.put("ada", "inbox", {"text": "Hello"}, to="bob"))
    yield "inbox, list", lambda: p.do("bob", "GET", "/api/records/inbox")
    yield "message, delete by its recipient", (
        lambda: kept.update(gone=p.put("ada", "inbox", {"text": "Hello"}, to="bob")),
        lambda: p.do("bob", "DELETE", f"/api/records/inbox/{kept['gone']}"))
    yield "record of a role, create", lambda: p.put("bob", "components", {"name": "Engine"})
    yield "records of a role, list", lambda: p.do("cyd", "GET", "/api/records/components")
    yield "published record, create", lambda: p.put("ada", "news", {"title": "News"})
    yield "published records, list", lambda: p.do("bob", "GET", "/api/records/news")

    def page():
        kept["cursor"] = p.do("bob", "GET", "/api/changes?limit=500")[0]["cursor"]

    yield "feed, first page", page
    yield "feed, page without changes", lambda: p.do("bob", "GET", f"/api/changes?since={kept['cursor']}")
    yield "feed, event of a stream, with its write", None
    yield "subscription, save", lambda: p.do("bob", "PUT", f"/api/subscriptions/{p.new_id('bob')}", {
        "collection": "components", "on": ["created"], "channel": "mail", "alert": "New"})
    yield "record with a subscriber, create", lambda: p.put("cyd", "components", {"name": "Wheel"})
    yield "give a role", (
        lambda: kept.update(other=p.add(next_user())),
        lambda: p.do("ada", "PUT", f"/api/roles/team/members/{kept['other']['id']}"))
    yield "code by mail, ask", (
        lambda: p.sign_up(next_user()),
        lambda: p.service.ok(
            "POST", "/api/request_code", body={"email": f"{kept['name']}@example.com", "purpose": "reset"}))
    yield "new password", lambda: p.users["cyd"].update(token=p.do("cyd", "POST", "/api/reset_password", {
        "old_password": p.password, "new_password": p.password})[0]["api_authtoken"])
    yield "end all sessions", (lambda: p.sign_in("cyd"), lambda: p.do("cyd", "DELETE", "/api/clear_token?all=true"))
    p.sign_in("cyd")
    yield "export", lambda: p.do("bob", "GET", "/api/export")

    def come():
        name = next_user()
        p.add(name)
        p.upload(name)
        p.put(name, "houses", {"address": "gone"})
        p.put(name, "inbox", {"text": "Bye"}, to="bob")
        kept["leaving"] = name

    def delete():
        p.do(kept["leaving"], "DELETE", "/api/account", {"password": p.password})

    yield "delete an account", (come, delete)



def main(program, folder, wal_count=None):
    service = Service(str(Path(program).resolve()), Path(folder).resolve() / "service")
    try:
        def statement(text):
            query(service.database, text)

        def mark(name):
            time.sleep(SETTLING_SECONDS)
            statement(f"SELECT 'flow: {name}', pg_logical_emit_message(false, 'flow', '{name}')")

        player = Player(service)
        if wal_count:
            measure_wal(service, player, int(wal_count))
            return
        for row in query(service.database, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
            statement(f"ALTER TABLE {row[0]} REPLICA IDENTITY FULL")
        statement("SELECT pg_create_logical_replication_slot('shards', 'test_decoding')")
        mark("none")
        for name, act in flows(player):
            if name.startswith("feed, event"):
                mark("none")
                player.follow("bob", 1, lambda: (mark(f"1 {name}"), player.put("cyd", "components", {"name": "Door"})))
                mark("none")
                continue
            prepare, act = act if isinstance(act, tuple) else (None, act)
            # What a process does only once, such as reading the schema, is not part of the flow.
            if prepare is None:
                act()
            else:
                prepare()
            mark(f"1 {name}")
            act()
            mark("none")
        # Mails and uses of sessions are noted some seconds later.
        time.sleep(20)
        # So the minute has the statement that notes a use, and it counts for no flow in which it falls by chance.
        player.do("ada", "GET", "/api/me")
        mark("1 nothing for a minute")
        time.sleep(60)
        mark("none")
        rows = query(service.database, "SELECT data FROM pg_logical_slot_get_changes('shards', NULL, NULL)")
        (Path(folder) / "changes.txt").write_text("\n".join(row[0] for row in rows))
        columns = "id, user_id, role_id, collection_id"
        (Path(folder) / "streams.json").write_text(json.dumps(query(service.database, f"SELECT {columns} FROM streams")))
    finally:
        service.stop()


def measure_wal(service, player, count):
    """Prints the bytes of the write-ahead log for each flow, as an average of some calls after a first one."""

    def position():
        return int(query(service.database, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")[0][0])

    print("| flow | bytes of the write-ahead log |\n|---|---|")
    for name, act in flows(player):
        if act is None or name in ("export", "code by mail, ask"):
            continue
        prepare, act = act if isinstance(act, tuple) else (lambda: None, act)
        prepare(), act()
        total = 0
        for _ in range(count):
            prepare()
            time.sleep(0.05)
            before = position()
            act()
            time.sleep(0.05)
            total += position() - before
        print(f"| {name} | {round(total / count)} |", flush=True)


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--wal"]
    main(*arguments)

"""Asks for random lists of records while others write, and compares each page with what a model says.

It reads a JSON object from the standard input:
- `origins`: of the processes;
- `members`: each with `id`, `token`, and whether it `has_role`;
- `collections`: by name, each with `access`, `fields` (by name, the type) and `indexes`;
- `seed`, `records` (how many are written) and `queries` (how many are asked).

It prints the queries that were answered otherwise, and a summary.
"""

import decimal
import hashlib
import http.client
import json
import random
import sys
import threading
import urllib.parse

run = json.loads(sys.stdin.read())
members, collections = run["members"], run["collections"]
chance = random.Random(run["seed"])
wrong, pages_seen, stop = [], [0], threading.Event()
local = threading.local()


def call(member, method, path, body=None):
    if not hasattr(local, "connections"):
        local.connections = [http.client.HTTPConnection(urllib.parse.urlsplit(o).netloc, timeout=60) for o in run["origins"]]
    connection = random.choice(local.connections)
    headers = {"Authorization": f"Token {member['token']}", "Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body).encode(), headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    return answer.status, json.loads(text, parse_float=decimal.Decimal, parse_int=decimal.Decimal)


# Values, and how indexes order them.

TEXTS = ["", "a", "aa", "ab", "b", "B", "é", "e\u0301", "z", "漢", "\U0001f600", "a" * 128, "a" * 128 + "b", "a" * 200 + "c"]


def value(kind, chance):
    if chance.random() < 0.15:
        return None
    if kind in ("string", "any"):
        return chance.choice(TEXTS) + chance.choice(["", "", "x", "y"])
    if kind == "integer":
        return chance.choice([0, 1, 2, 3, -1, -2, 10, 100, -100, 2**63 - 1, -(2**63)])
    if kind == "number":
        return chance.choice([0, 0.5, -0.5, 1, 1.5, -1.25, 1e300, -1e300, 1e-300, -1e-300, 123456.75, 10, 9.99])
    if kind == "boolean":
        return chance.random() < 0.5
    second = chance.randrange(5)
    return f"2026-01-0{1 + second}T00:00:0{second}" + chance.choice(["Z", ".5Z", ".001Z"])


def key(kind, value):
    """A list that is ordered as the index is."""
    if value is None:
        return [0]
    if isinstance(value, bool):
        return [1, value]
    if kind == "timestamp":
        whole, _, part = value.rstrip("Z").partition(".")
        return [4, whole, part.ljust(3, "0")]
    if isinstance(value, str):
        return [3, value] if len(value) <= 128 else [3, value[:128] + hashlib.sha256(value.encode()).hexdigest()]
    return [2, decimal.Decimal(repr(value) if isinstance(value, float) else value)]


def fits(kind, value, test):
    if not isinstance(test, dict):
        return key(kind, value) == key(kind, test)
    for word, other in test.items():
        if word == "in":
            if not any(key(kind, value) == key(kind, one) for one in other):
                return False
            continue
        if word == "prefix":
            if not isinstance(value, str) or not value.startswith(other):
                return False
            continue
        mine, theirs = key(kind, value), key(kind, other)
        if word == "=" and mine != theirs or word != "=" and mine[0] != theirs[0]:
            return False
        if {"=": False, ">": mine <= theirs, ">=": mine < theirs, "<": mine >= theirs, "<=": mine > theirs}[word]:
            return False
    return True


def test(kind, chance):
    one = value(kind, chance)
    choice = chance.random()
    if choice < 0.4 or one is None:
        return chance.choice([one, {"=": one}])
    if choice < 0.6:
        return {"in": [value(kind, chance) for _ in range(chance.randint(1, 20))]}
    if kind in ("boolean",):
        return one
    if kind in ("string", "any") and choice < 0.75:
        return {"prefix": one[:128][: chance.randrange(4)]}
    bounds = {chance.choice([">", ">="]): one}
    other = value(kind, chance)
    if other is not None and chance.random() < 0.5:
        bounds[chance.choice(["<", "<="])] = other
    return bounds


# Records, in the order in which they were created.

records = []


def kind_of(collection, index):
    if index in ("created_at", "updated_at"):
        return "timestamp"
    return collections[collection]["fields"].get(index, "any")


def sees(number, record):
    access = collections[record["collection"]]["access"]
    if access == "published":
        return True
    if access == "shared":
        return members[number]["has_role"]
    return number == record["reader"] if access == "inbox" else number in record["readers"] | {record["owner"]}


def write_all():
    for position in range(run["records"]):
        name = chance.choice(list(collections))
        collection = collections[name]
        writers = [n for n, member in enumerate(members) if collection["access"] != "shared" or member["has_role"]]
        owner = chance.choice(writers)
        data = {field: value(kind, chance) for field, kind in collection["fields"].items() if chance.random() < 0.9}
        body = {"id": f"r{position}", "data": data}
        readers = set(chance.sample(range(len(members)), chance.randrange(3))) if collection["access"] == "acl" else set()
        if readers:
            body["readers"] = [members[reader]["id"] for reader in readers]
        path, reader = f"/api/records/{name}", chance.randrange(len(members))
        if collection["access"] == "inbox":
            path = f"/api/members/{members[reader]['id']}{path[4:]}"
        status, answer = call(members[owner], "POST", path, body)
        assert status == 200, answer
        record = {"id": body["id"], "collection": name, "owner": owner, "readers": readers, "reader": reader}
        record |= {"data": data, "created_at": answer["created_at"], "updated_at": answer["updated_at"]}
        records.append(record)
        if chance.random() < 0.2 and collection["access"] != "inbox":
            change = {field: value(kind, chance) for field, kind in collection["fields"].items() if chance.random() < 0.4}
            status, answer = call(members[owner], "PATCH", f"{path}/{body['id']}", {"data": change})
            assert status == 200, answer
            record["data"] = {field: one for field, one in (data | change).items()}
            record["updated_at"] = answer["updated_at"]
        elif chance.random() < 0.1 and collection["access"] != "inbox":
            status, answer = call(members[owner], "DELETE", f"{path}/{body['id']}")
            assert status == 200, answer
            records.pop()


def noise(number):
    """Writes, changes and deletes records that no member of the lists sees, in the same collections."""
    mine, chance = run["strangers"][number], random.Random(number)
    names = [name for name, collection in collections.items() if collection["access"] in ("private", "acl")]
    while not stop.is_set() and names:
        name, id = chance.choice(names), f"n{number}-{chance.randrange(50)}"
        data = {field: value(kind, chance) for field, kind in collections[name]["fields"].items()}
        method = chance.choice(["PUT", "PUT", "PATCH", "DELETE"])
        call(mine, method, f"/api/records/{name}/{id}", None if method == "DELETE" else {"data": data})


# Queries.


def ask(number, chance):
    name = chance.choice([name for name in collections if collections[name]["access"] != "shared" or members[number]["has_role"]])
    collection = collections[name]
    conditions = {
        index: test(kind_of(name, index), chance)
        for index in chance.sample(collection["indexes"], min(len(collection["indexes"]), chance.randrange(4)))
        if index not in ("created_at", "updated_at")
    }
    order = chance.choice(["created", *collection["indexes"]])
    descending = chance.random() < 0.5
    limit = chance.choice([1, 2, 3, 7, 50])
    query = {"where": json.dumps(conditions), "order": ("-" if descending else "") + order, "limit": limit, "count": "true"}
    ids = None
    if chance.random() < 0.1:
        ids = {f"r{chance.randrange(run['records'])}" for _ in range(20)}
        query |= {"ids": ",".join(ids)}
        conditions = {}
        del query["where"]

    def field(record, index):
        return record[index] if index in ("created_at", "updated_at") else record["data"].get(index)

    expected = [
        record
        for record in records
        if record["collection"] == name
        and sees(number, record)
        and (ids is None or record["id"] in ids)
        and all(fits(kind_of(name, index), field(record, index), test) for index, test in conditions.items())
    ]
    if order != "created":
        # Stable, so records of one value are in the order of their creation.
        expected.sort(key=lambda record: key(kind_of(name, order), field(record, order)))
    if descending:
        expected.reverse()
    expected = [record["id"] for record in expected]
    for start in range(0, len(expected) or 1, limit):
        status, page = call(members[number], "GET", f"/api/records/{name}?{urllib.parse.urlencode(query)}")
        pages_seen[0] += 1
        found = [record["id"] for record in page.get("records", [])]
        is_last = start + limit >= len(expected)
        if status != 200 or found != expected[start : start + limit] or (page["next"] is None) != is_last:
            wrong.append(f"{name} {collection} {query}: {status} {found}, not {expected[start : start + limit]} {page}"[:2000])
            return
        if page["count"] != len(expected) or page["count_limited"] or "limited" in page:
            wrong.append(f"{query}: counted {page['count']}, not {len(expected)}")
        query |= {"after": page["next"] or ""}


def client(number):
    chance = random.Random(f"{run['seed']} {number}")
    try:
        for _ in range(run["queries"] // len(members)):
            ask(number, chance)
    except Exception as error:
        wrong.append(repr(error))


write_all()
writers = [threading.Thread(target=noise, args=[number]) for number in range(len(run["strangers"]))]
clients = [threading.Thread(target=client, args=[number]) for number in range(len(members))]
for thread in writers + clients:
    thread.start()
for thread in clients:
    thread.join()
stop.set()
for thread in writers:
    thread.join()
print("\n".join(wrong[:5]))
print(f"{len(records)} records, {run['queries']} queries, {pages_seen[0]} pages, {len(wrong)} wrong")
sys.exit(bool(wrong))

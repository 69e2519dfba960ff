"""Counts how many shards statements would touch, by the plans in PostgreSQL's log and by the tables of shard_tables.py.

python3 Tests/Python/count_shards.py flows FOLDER, or tests FOLDER [FOLDER-OF-FLOWS]; bin/shards runs both.

A statement reaches one shard if each of its distributed tables is read by one value of a column that tells the shard; several
if by an array, or by what other rows name; and otherwise all. Tables that are on each server count for nothing.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

from shard_tables import BY_HOME, DISTRIBUTED, IDS, REFERENCE, TABLES, TODAY, keys

NONE, ONE, SEVERAL, ALL = range(4)
NAMES = ["none", "one", "several", "all"]
CONDITIONS = ("Index Cond", "Recheck Cond", "Filter", "Hash Cond", "Merge Cond", "Join Filter", "One-Time Filter")
COLUMN = r"\(?(\w+)\.(\w+)\)?(?:::[\w\s\[\]]+)?"


def parts(condition):
    """The parts that AND joins at the top of a condition."""
    text = condition
    while text.startswith("("):
        depth, quoted = 0, False
        for position, character in enumerate(text):
            if character == "'":
                quoted = not quoted
            elif not quoted:
                depth += (character == "(") - (character == ")")
                if depth == 0:
                    break
        if position != len(text) - 1:
            break
        text = text[1:-1]
    found, start, depth, quoted = [], 0, 0, False
    for position, character in enumerate(text):
        if character == "'":
            quoted = not quoted
        elif not quoted:
            depth += (character == "(") - (character == ")")
            if depth == 0 and text.startswith(" AND ", position):
                found.append(text[start:position])
                start = position + 5
    found.append(text[start:])
    return found if len(found) == 1 else [part for one in found for part in parts(one)]


def walk(node):
    yield node
    for child in node.get("Plans", []):
        yield from walk(child)


def reached(plan, stage):
    """How many shards a plan reaches at a stage: NONE, ONE, SEVERAL or ALL."""
    nodes = list(walk(plan))
    tables = {
        node["Alias"]: node["Relation Name"] for node in nodes
        if "Relation Name" in node and node["Node Type"] != "ModifyTable"
    }
    distributed = {alias: table for alias, table in tables.items() if table in DISTRIBUTED}
    classes = {alias: ALL for alias in distributed}
    same = defaultdict(set)

    def is_key(alias, column):
        return alias in distributed and column in keys(distributed[alias], stage)

    def note(alias, column, other):
        if not is_key(alias, column):
            return
        named = re.fullmatch(COLUMN, other)
        if named and is_key(*named.groups()) and (distributed[alias] in BY_HOME) == (distributed[named[1]] in BY_HOME):
            same[alias].add(named[1])
            same[named[1]].add(alias)
        elif named or " = ANY" in other or re.search(r"\b[a-z_]\w*\.\w+", re.sub(r"'(?:[^']|'')*'", "", other)):
            classes[alias] = min(classes[alias], SEVERAL)
        else:
            classes[alias] = min(classes[alias], ONE)

    text = json.dumps(plan)
    for node in nodes:
        # The outer rows are looked up in the rows of such a plan, by its columns.
        if f"hashed {node.get('Subplan Name')})" in text:
            for column in node["Output"]:
                named = re.fullmatch(COLUMN, column)
                if named:
                    note(*named.groups(), "outer.column")
        for kind in CONDITIONS:
            for part in parts(node[kind]) if kind in node else []:
                listed = re.fullmatch(rf"{COLUMN} = ANY \((.*)\)", part, re.S)
                if listed:
                    single = re.fullmatch(r"'\{[^,]*\}'::\S+", listed[3])
                    note(listed[1], listed[2], "$1" if single else " = ANY")
                    continue
                left, equal, right = part.partition(" = ")
                if not equal:
                    continue
                address = re.match(r"\(?lower\(btrim\(\((\w+)\.email\)::text\)\)|\(?lower\(btrim\((\w+)\.email\)\)", left)
                if address:
                    left = (address[1] or address[2]) + ".email"
                for one, other in ((left, right), (right, left)):
                    named = re.fullmatch(COLUMN, one)
                    if named:
                        note(named[1], named[2], other)
    # What has the home of a row that is found by its key is found, too.
    for _ in same:
        for alias, others in same.items():
            classes[alias] = min([classes[alias]] + [classes[other] for other in others])
    found = max(classes.values(), default=NONE)
    for node in nodes:
        if node["Node Type"] == "ModifyTable" and node.get("Relation Name") in DISTRIBUTED and node["Operation"] == "Insert":
            sources = list(walk(node))[1:]
            reads = any(source.get("Alias") in classes for source in sources)
            many = any(source["Node Type"] in ("Function Scan", "Values Scan", "CTE Scan", "Subquery Scan") for source in sources)
            found = max(found, ONE if not many or reads else SEVERAL)
    return found


class Log:
    """The statements of a log, in order, each with its flow, its transaction and how many shards it reaches."""

    def __init__(self, path):
        self.torn = 0
        self.path = path
        self.cache = {}

    def entries(self):
        with open(self.path, errors="replace") as lines:
            for line in lines:
                try:
                    yield json.loads(line)
                except ValueError:
                    self.torn += 1

    def statements(self):
        """Tuples: flow, transaction, text, whether a trigger or function ran it, the reach at each stage, whether it writes."""
        flow, current = "none", {}
        for entry in self.entries():
            message, process = entry.get("message", ""), entry.get("pid")
            started = re.match(r"(?:statement|execute [^:]*): ", message)
            if started:
                text = message[started.end():]
                marked = re.match(r"SELECT 'flow: ([^']*)'", text)
                if marked:
                    flow = marked[1]
                current[process] = text.strip()
                if re.match(r"\s*LOCK TABLE", text):
                    locked = re.findall(r"\w+", text)[2]
                    all_nodes = ALL if locked in DISTRIBUTED else NONE
                    yield flow, (process, entry.get("vxid")), text, False, [all_nodes] * 3, False
                continue
            if "  plan:\n" not in message or entry.get("dbname") in (None, "postgres", "template1"):
                continue
            try:
                explained = json.loads(message.split("  plan:\n", 1)[1])
            except ValueError:
                self.torn += 1
                continue
            text = explained["Query Text"].strip()
            # PostgreSQL's own checks of foreign keys stay on the shard, or Citus refuses the key.
            if re.match(r"(SELECT 1|DELETE|UPDATE|SELECT fk)\b.*\bONLY \"?(pg_catalog|public)\b", text, re.S) or "pg_logical" in text:
                continue
            plan = explained["Plan"]
            key = (text, json.dumps(plan, sort_keys=True) if len(text) < 20_000 else text)
            key = hash(key)
            if key not in self.cache:
                writes = any(node["Node Type"] in ("ModifyTable", "LockRows") for node in walk(plan))
                self.cache[key] = ([reached(plan, stage) for stage in (TODAY, IDS, TABLES)], writes)
            yield flow, (process, entry.get("vxid")), text, text != current.get(process), *self.cache[key]


IDLE = "1 nothing for a minute"
VALUE = re.compile(r"(\w+)\[((?:[^\[\]]|\[\])*)\]:('(?:''|[^'])*'|\S+)")


def written_homes(folder):
    """For each flow, the homes of each transaction's rows, and the tables on all servers that it writes."""
    streams, records, photos = {}, {}, {}
    for stream, user, role, collection in json.loads((folder / "streams.json").read_text()):
        streams[stream] = f"user {user}" if user else f"role {role}" if role else f"collection {collection}"
    changes, transactions, flow = [], defaultdict(list), "none"
    for line in (folder / "changes.txt").read_text().splitlines():
        if line.startswith("message: "):
            flow = line.split("content:", 1)[1]
        elif line.startswith("BEGIN"):
            changes = []
        elif line.startswith("COMMIT") and changes:
            # Uses of sessions are noted some seconds later, in a transaction of their own.
            if any((table, operation) != ("sessions", "UPDATE") for table, operation, _ in changes):
                transactions[flow].append(changes)
        elif line.startswith("table public."):
            table, operation, rest = re.match(r"table public\.(\w+): (\w+): (.*)", line).groups()
            row = {name: value.strip("'") for name, _, value in VALUE.findall(rest)}
            changes.append((table, operation, row))
            if table == "streams" and row.get("user_id", "null") != "null":
                streams[row["id"]] = f"user {row['user_id']}"
            if table == "records":
                records[row["key"]] = f"user {row['owner_id'] if row['recipient_id'] == '0' else row['recipient_id']}"
            if table == "photos":
                photos[row["id"]] = photos[row["random_id"]] = photos[row.get("object_key")] = f"user {row['user_id']}"
            if table == "renditions" and row["photo_id"] in photos:
                photos[row["object_key"]] = photos[row["photo_id"]]

    def home(table, row):
        if table == "users":
            return f"user {row['id']}"
        for column, homes in (("stream_id", streams), ("record_key", records), ("photo_id", photos)):
            if column in row:
                return homes.get(row[column], f"{column} {row[column]}")
        if table == "streams":
            return streams[row["id"]]
        if table == "records":
            return records[row["key"]]
        if table == "object_deletions":
            return photos.get(row["random_id"], "object " + row["random_id"])
        return f"user {row['user_id']}"

    written = {}
    for flow, all_changes in transactions.items():
        written[flow] = [
            (
                {home(table, row) for table, _, row in changes if table in BY_HOME and table != "deliveries"},
                {table for table, _, _ in changes if table in REFERENCE},
            )
            for changes in all_changes
        ]
    return written


def table(rows):
    print("\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows))


LOCKS = re.compile(r"FOR (NO KEY )?(UPDATE|SHARE|KEY SHARE)")


def print_flows(folder):
    log = Log(folder / "log/statements.json")
    found = defaultdict(lambda: defaultdict(list))
    for flow, transaction, *statement in log.statements():
        found[flow][transaction].append(statement)
    homes = written_homes(folder)
    # What runs while nothing is asked for is in other flows by chance.
    idle = {text for transaction in found[IDLE].values() for text, *_ in transaction}
    table([
        ("flow", "statements", "by triggers", "today: one, several, all", "with ids", "with ids and tables",
            "refused", "homes that each transaction writes"),
        ["---"] * 8,
    ])
    for flow, transactions in found.items():
        if not flow.startswith("1 "):
            continue
        kept = [
            statement for statements in transactions.values() for statement in statements
            if flow == IDLE or not all(text in idle for text, *_ in statements)
        ]
        counted = [", ".join(str(sum(reach[stage] == level for _, _, reach, _ in kept)) for level in (ONE, SEVERAL, ALL))
            for stage in (TODAY, IDS, TABLES)]
        refused = sum(reach[TABLES] >= SEVERAL and bool(LOCKS.search(text)) for text, _, reach, _ in kept)
        written = [str(len(at)) + "".join(f", {name}" for name in sorted(reference)) for at, reference in homes.get(flow, [])
            if at or reference]
        nested = sum(is_nested for _, is_nested, *_ in kept)
        table([(flow[2:], len(kept) - nested, nested, *counted, refused, "; ".join(written) or "none")])
    if log.torn:
        print(f"{log.torn} lines of the log could not be read.", file=sys.stderr)


def print_tests(folder, flows=None):
    """Prints how far the statements of tests reach; with the folder of flows, also which of them are of calls."""
    known = {}
    for flow, _, text, *_ in Log(flows / "log/statements.json").statements() if flows else ():
        if flow != "none":
            known[text] = "nothing for a minute" if flow == IDLE else known.get(text, "calls of the table")
    log = Log(folder / "log/statements.json")
    counted, texts, transactions = defaultdict(Counter), defaultdict(set), defaultdict(lambda: [NONE] * 3)
    for _, transaction, text, _, reach, _ in log.statements():
        kind = known.get(text, "others" if flows else "all")
        texts[kind].add(text)
        counted[kind].update((stage, reach[stage]) for stage in (TODAY, IDS, TABLES))
        most = transactions[kind, transaction]
        for stage in (TODAY, IDS, TABLES):
            most[stage] = max(most[stage], reach[stage])
    table([("statements", "texts", "executions", "today: none, one, several, all", "with ids", "with ids and tables"), ["---"] * 6])
    for kind, counter in counted.items():
        total = sum(counter.values()) // 3
        shares = [", ".join(f"{100 * counter[stage, level] / total:.0f} %" for level in (NONE, ONE, SEVERAL, ALL))
            for stage in (TODAY, IDS, TABLES)]
        table([(kind, len(texts[kind]), total, *shares)])
    if log.torn:
        print(f"{log.torn} lines of the log could not be read.", file=sys.stderr)


if __name__ == "__main__":
    {"flows": print_flows, "tests": print_tests}[sys.argv[1]](*map(Path, sys.argv[2:]))

"""Computes rows, rates and the cost of a month for many users: python3 Tests/Python/size_of_users.py docs/scaling/inputs.json

`rows` of the inputs are the bytes of a row in each table, by `measure_rows.py`. Change any number in the file, and run it again.
Or give others after the file: users=1000000, years=5, "calls_of_an_active_user_a_day.open a photo.calls=100".
"""

import json
import math
import sys


def tiered(amount, tiers):
    """The price of an amount whose parts have falling prices; a tier is its size, null for the rest, and its price."""
    total = 0
    for size, price in tiers:
        part = amount if size is None else min(amount, size)
        total, amount = total + part * price, amount - part
    return total


def dollars(amount):
    return f"{amount:,.0f}"


def read(path, changes):
    """The inputs, with some of them changed."""
    given = json.load(open(path))
    for change in changes:
        name, _, value = change.partition("=")
        *groups, last = name.split(".")
        group = given
        for one in groups:
            group = group[one]
        if last not in group:
            sys.exit(f"There is no {name}.")
        group[last] = json.loads(value)
    return given


def main(path, *changes):
    given = read(path, changes)
    users, prices, days = given["users"], given["prices"], 365 / 12
    active = users * given["active_share_of_a_day"]
    calls = {name: call for name, call in given["calls_of_an_active_user_a_day"].items() if name != "comment"}
    for call in calls.values():
        call["calls"] *= given["calls_factor"]

    print("| table | rows a user | bytes a row, with indexes | GB of all users |\n|---|---|---|---|")
    database = 0
    counts = {name: count for name, count in given["per_user"].items() if name != "comment"}
    still = sum(users * count * given["rows"][name] for name, count in counts.items())
    for name, added in given["rows_of_a_call"].items():
        if name != "comment":
            kept = calls[name]["calls"] * given["active_share_of_a_day"] * 365 * given["years"] * (1 - given["deleted_share"])
            counts.update({table: kept * count for table, count in added.items()})
    for name, count in sorted(counts.items(), key=lambda pair: -pair[1] * given["rows"].get(pair[0], 0)):
        size = users * count * given["rows"][name]
        database += size
        print(f"| {name} | {count:.3g} | {given['rows'][name]} | {size / 1e9:,.0f} |")
    print(f"| all | | {database / users:,.0f} a user | {database / 1e9:,.0f} |\n")
    growth = (database - still) / given["years"]
    full = (given["max_bytes_per_primary"] - still) / growth
    print(f"{still / 1e9:,.0f} GB do not grow, and {growth / 1e9:,.0f} GB come each year. One primary is enough for {full:.1f} years.\n")

    print("| call | a day | a second, average | a second, peak | cores at the peak | write-ahead log, GB a day |\n|---|---|---|---|---|---|")
    cores = log = rate = 0
    for name, call in calls.items():
        a_day = active * call["calls"]
        peak = a_day / 86_400 * given["peak_factor"]
        needed = peak * call["core_seconds"]
        written = a_day * call["wal"]
        cores, log, rate = cores + needed, log + written, rate + peak
        print(f"| {name} | {a_day:,.0f} | {a_day / 86_400:,.0f} | {peak:,.0f} | {needed:,.1f} | {written / 1e9:,.1f} |")
    print(f"| all | | | {rate:,.0f} | {cores:,.0f} | {log / 1e9:,.0f} |\n")

    shards = max(1, math.ceil(database / given["max_bytes_per_primary"]))
    servers = shards * (1 + given["standbys_per_primary"])
    disk = servers * database / shards / (1 - given["free_disk_share"]) / 1e9
    service_cores = math.ceil(cores / given["cores_used_at_peak"])
    stored = users * counts["photos"] * (given["photo_bytes"] + given["small_pictures_bytes"]) / 1e9
    opened = active * calls["open a photo"]["calls"] * days
    # Lists show small pictures; one in ten is opened whole.
    sent = opened * (0.1 * given["photo_bytes"] + 0.9 * given["small_pictures_bytes"] / 2) / 1e9
    uploads = active * calls["upload a photo"]["calls"] * days
    answers = sum(active * call["calls"] for name, call in calls.items() if name != "open a photo") * days * given["answer_bytes"] / 1e9
    misses = opened * (1 - given["cache_hit_share"])
    deleted = uploads * given["deleted_share"]

    lines = [
        ("service", f"{service_cores} cores", service_cores * prices["service core hour"] * given["hours_a_month"]),
        ("database servers", f"{servers} of {given['cores_per_database_server']} cores: {shards} primaries with standbys",
            servers * prices["database server hour"] * given["hours_a_month"]),
        ("database disks", f"{disk:,.0f} GB", disk * prices["database disk GB month"]),
        ("write-ahead log between zones", f"{log * days * given['standbys_per_primary'] / 1e9:,.0f} GB",
            log * days * given["standbys_per_primary"] / 1e9 * prices["between zones GB, each way"] * 2),
        ("photos stored", f"{stored:,.0f} GB", tiered(stored, prices["bucket GB month, tiers"])),
        ("puts of photos and small pictures", f"{uploads * 2.5 / 1e6:,.0f} million", uploads * 2.5 / 1000 * prices["bucket put, thousand"]),
        ("gets by the CDN", f"{misses / 1e6:,.0f} million", misses / 1000 * prices["bucket get, thousand"]),
        ("photos sent by the CDN", f"{sent:,.0f} GB", tiered(sent, prices["CDN GB, tiers"])),
        ("requests to the CDN", f"{opened / 1e6:,.0f} million", opened / 10_000 * prices["CDN requests, ten thousand"]),
        ("answers of the service", f"{answers:,.0f} GB", tiered(answers, prices["egress GB, tiers"])),
        ("purges of deleted photos", f"{deleted / 1e6:,.1f} million", deleted * prices["invalidated path"]),
    ]
    print("| what | how much | $ a month |\n|---|---|---|")
    for name, amount, cost in lines:
        print(f"| {name} | {amount} | {dollars(cost)} |")
    total = sum(line[2] for line in lines)
    print(f"| all | {total / users * 100:.1f} cents a user | {dollars(total)} |")
    direct = tiered(sent, prices["egress GB, tiers"])
    print(f"\nWithout a CDN, the same photos cost {dollars(direct)} of egress, and {dollars(opened / 1000 * prices['bucket get, thousand'])} of gets.")


if __name__ == "__main__":
    main(*sys.argv[1:])

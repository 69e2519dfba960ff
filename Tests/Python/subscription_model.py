"""Says which pushes subscriptions must bring, and compares them with those that came.

usage: subscription_model.py FILE

FILE has, as JSON:
- `members`: by name, their devices, each with the name of its session;
- `subscriptions`: each with `member`, `id`, `collection`, `where`, `on`, `once`;
- `operations`: in the order of each record, with `collection`, `record`, `session`, `readers` (the members who can read it
  from then on) and `data`, which is null once it is deleted;
- `pushes`: each with `device`, `subscription`, `collection`, `record`, `type`.

It prints a line for each push that is missing or should not have come, and a summary.
"""

import collections
import json
import sys

run = json.load(open(sys.argv[1]))


def fits(subscription, operation, member):
    """Whether a member who sees only what fits sees the record."""
    if operation is None or operation["data"] is None or member not in operation["readers"]:
        return False
    return all(operation["data"].get(field) == value for field, value in subscription["where"].items())


# What a change is for a subscription, by whether the record was there before and is there now.
KINDS = {(False, True): "created", (True, True): "updated", (True, False): "deleted", (False, False): None}

histories = collections.defaultdict(list)
for operation in run["operations"]:
    histories[operation["collection"], operation["record"]].append(operation)

# By device, subscription, record and type: how many must come, and how many may.
least, most = collections.Counter(), collections.Counter()
once = collections.defaultdict(list)
for subscription in run["subscriptions"]:
    member = subscription["member"]
    for (collection, record), history in histories.items():
        if collection != subscription["collection"]:
            continue
        for number, operation in enumerate(history):
            before = history[number - 1] if number else None
            kind = KINDS[fits(subscription, before, member), fits(subscription, operation, member)]
            if kind not in subscription["on"]:
                continue
            # Nobody hears of what can't be read any more, unless that is what the push says.
            later = history[number:]
            stays = all(after["data"] is not None and member in after["readers"] for after in later)
            pushes = [
                (device["token"], member, subscription["id"], collection, record, kind)
                for device in run["members"][member]
                if device["session"] != operation["session"]
            ]
            if subscription["once"]:
                if pushes:
                    once[member, subscription["id"]].append((frozenset(pushes), stays or kind == "deleted"))
                continue
            for push in pushes:
                most[push] += 1
                if stays or kind == "deleted":
                    least[push] += 1

owners = {device["token"]: member for member, devices in run["members"].items() for device in devices}
came = collections.Counter()
fired = collections.defaultdict(list)
singles = {(subscription["member"], subscription["id"]) for subscription in run["subscriptions"] if subscription["once"]}
for push in run["pushes"]:
    member = owners[push["device"]]
    key = (push["device"], member, push["subscription"], push["collection"], push["record"], push["type"])
    if (member, push["subscription"]) in singles:
        fired[member, push["subscription"]].append(key)
    else:
        came[key] += 1

wrong = [f"{key}: {came[key]}, expected {least[key]} to {most[key]}" for key in came | most if not least[key] <= came[key] <= most[key]]
for name in singles:
    choices = once[name]
    if not fired[name]:
        if choices and all(is_sure for _, is_sure in choices):
            wrong.append(f"{name} has told nothing")
    elif len(set(fired[name])) != len(fired[name]) or frozenset(fired[name]) not in {pushes for pushes, _ in choices}:
        wrong.append(f"{name} has told more than once, or of something else: {fired[name]}")
print("\n".join(sorted(wrong)))
print(
    f"{len(run['operations'])} changes, {len(run['subscriptions'])} subscriptions, {len(run['pushes'])} pushes, "
    f"{sum(least.values())} to {sum(most.values())} expected, {sum(map(bool, fired.values()))} of {len(singles)} told once, "
    f"{len(wrong)} wrong"
)
sys.exit(bool(wrong))

"""Which table would be distributed how, if Selfie's rows were spread over several PostgreSQL servers by Citus.

docs/scaling/sharding.md explains the choices. `count_shards.py` counts statements by them. Run alone, this compares them with
a migrated database: python3 Tests/Python/shard_tables.py DATABASE_URL
"""

import subprocess
import sys

# A home is a user, a role or a collection: rows of one home are on one shard. For each distributed table: the columns of today
# that are the user's id, then the ids from which the home could be told if ids carried it.
BY_HOME = {
    "users": (["id"], ["member_id"]),
    "sessions": (["user_id"], ["id", "token_digest"]),
    "known_addresses": (["user_id"], []),
    "former_emails": (["user_id"], []),
    "blocks": (["user_id"], []),
    "role_members": (["user_id"], []),
    "audit_events": (["user_id"], ["id"]),
    "devices": (["user_id"], ["id", "session_id"]),
    "subscriptions": (["user_id"], ["id"]),
    "photos": (["user_id"], ["id", "random_id", "object_key"]),
    "photo_libraries": (["user_id"], []),
    "deleted_upload_keys": (["user_id"], []),
    "renditions": ([], ["photo_id", "object_key"]),
    "photo_releases": ([], ["photo_id"]),
    "object_deletions": ([], ["random_id"]),
    "streams": (["user_id"], ["id", "role_id", "collection_id"]),
    "stream_starts": ([], ["stream_id"]),
    "stream_authors": ([], ["stream_id"]),
    "grants": ([], ["stream_id"]),
    "record_index": ([], ["stream_id"]),
    "records": ([], ["key"]),
    "record_references": ([], ["record_key"]),
    "photo_references": ([], ["record_key"]),
    "photo_losses": ([], ["record_key"]),
    "deliveries": ([], ["id"]),
}
# Distributed by a key of their own, which no user's row must be beside.
BY_KEY = {"rate_limits": ["key"], "codes": ["account"]}
REFERENCE = {
    "roles", "collections", "schema_definitions", "webhooks", "subscription_filters", "provider_tokens",
}
COORDINATOR = {
    "schema_migrations", "migration_checksums", "undecryptable_passwords", "record_imports", "unresolved_imports",
    "replication_heartbeat",
}
DISTRIBUTED = set(BY_HOME) | set(BY_KEY)

# What statements could be routed by: the columns of today; ids that carry the home, too; and tables that find the home of an
# e-mail address and of a record's name, and the readers of a record beside it.
TODAY, IDS, TABLES = range(3)
FOUND_BY_TABLES = {
    "users": ["email"], "former_emails": ["email"], "records": ["id"], "grants": ["record_key"], "blocks": ["blocked_user_id"],
    "codes": ["user_id", "id"], "record_references": ["target_key"],
}


def keys(table, stage):
    """The columns that tell a row's shard at a stage."""
    if table in BY_KEY:
        today, ids = BY_KEY[table], []
    else:
        today, ids = BY_HOME[table]
    return set(today) | set(ids if stage >= IDS else []) | set(FOUND_BY_TABLES.get(table, []) if stage >= TABLES else [])


def query(url, statement):
    """The rows of a statement, as lists of texts."""
    done = subprocess.run(
        ["psql", "-X", "-q", "-A", "-t", "-w", "-F", "\x1f", "-v", "ON_ERROR_STOP=1", "-c", statement, url],
        check=True, capture_output=True, text=True,
    )
    return [line.split("\x1f") for line in done.stdout.splitlines()]


def compare(url):
    """Prints what of a migrated database Citus would refuse."""
    tables = {row[0] for row in query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
    known = DISTRIBUTED | REFERENCE | COORDINATOR
    if tables - known:
        sys.exit("These tables have no place yet: " + ", ".join(sorted(tables - known)))
    if known - tables:
        sys.exit("There are no such tables: " + ", ".join(sorted(known - tables)))

    def place(table):
        return "reference" if table in REFERENCE else "local" if table in COORDINATOR else "distributed"

    print("Unique indexes without the column that tells the shard:")
    for table, index, columns in query(
        url,
        """SELECT tab.relname, cls.relname, coalesce(string_agg(att.attname, ',' ORDER BY att.attnum), '')
        FROM pg_index idx JOIN pg_class cls ON cls.oid = indexrelid JOIN pg_class tab ON tab.oid = indrelid
        LEFT JOIN pg_attribute att ON att.attrelid = indrelid AND att.attnum = ANY (idx.indkey::int2[])
        WHERE indisunique AND tab.relnamespace = 'public'::regnamespace GROUP BY 1, 2 ORDER BY 1, 2""",
    ):
        if table in DISTRIBUTED and not keys(table, TODAY) & set(columns.split(",")):
            carried = bool(keys(table, IDS) & set(columns.split(",")))
            print(f"  {table}: {index} ({columns or 'an expression'}){' - the id could carry it' if carried else ''}")
    print("Foreign keys between rows that may be on different shards:")
    for table, target, columns in query(
        url,
        """SELECT conrelid::regclass, confrelid::regclass, string_agg(att.attname, ',') FROM pg_constraint
        JOIN pg_attribute att ON attrelid = conrelid AND attnum = ANY (conkey) WHERE contype = 'f' GROUP BY oid, 1, 2
        ORDER BY 1, 3""".replace("oid,", "pg_constraint.oid,"),
    ):
        pair = (place(table), place(target))
        is_same_home = table in BY_HOME and columns in keys(table, TODAY) and target in BY_HOME
        if pair == ("distributed", "reference") or pair[0] == pair[1] != "distributed" or is_same_home:
            continue
        could = table in BY_HOME and columns in keys(table, IDS)
        print(f"  {table} ({columns}) to {target}{' - the id could carry it' if could else ''}")
    print("Sequences smaller than bigint, which workers can't share:")
    for row in query(url, "SELECT sequencename FROM pg_sequences WHERE data_type <> 'bigint'::regtype ORDER BY 1"):
        print(f"  {row[0]}")
    print("Triggers on distributed tables:")
    for row in query(
        url, "SELECT tgrelid::regclass, tgname, tgfoid::regproc FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2"
    ):
        if row[0] in DISTRIBUTED:
            print(f"  {row[0]}: {row[1]} ({row[2]})")


if __name__ == "__main__":
    compare(*sys.argv[1:])

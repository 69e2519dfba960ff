"""Fills a migrated database with rows as the service writes them, and prints the bytes that each table's rows take.

python3 Tests/Python/measure_rows.py DATABASE_URL [USERS], with an empty database that `selfie migrate` has migrated. It prints
a line of JSON for each table that has rows: rows, bytes of the table, of its indexes, and both for each row.
"""

import json
import subprocess
import sys

from shard_tables import query

PHOTOS, OWN, SHARED, SENT, EVENTS = 20, 10, 5, 5, 30

ROUNDS = [
    # As sign-ups: triggers add the streams.
    """INSERT INTO roles (name) VALUES ('team');
    INSERT INTO collections (name) VALUES ('houses'), ('messages'), ('inbox');
    INSERT INTO streams (role_id) SELECT id FROM roles; INSERT INTO streams (collection_id) SELECT id FROM collections;
    INSERT INTO users (first_name, last_name, email, password_hash, profile)
    SELECT 'Adelaide', 'Lovelace-' || n, 'adelaide.lovelace.' || n || '@example.com',
        '$2b$12$' || left(md5(n::text) || md5('x' || n), 53), '{"city":"London"}' FROM generate_series(1, {users}) AS n;
    INSERT INTO role_members (role_id, user_id) SELECT roles.id, users.id FROM roles, users WHERE users.id % 5 = 0;
    INSERT INTO known_addresses (user_id, network) SELECT id, encode(sha256(convert_to(n || 'n' || id, 'UTF8')), 'hex')
    FROM users, generate_series(1, 2) AS n;
    INSERT INTO blocks SELECT id, id % {users} + 1 FROM users WHERE id % 2 = 0;
    INSERT INTO rate_limits SELECT encode(sha256(convert_to(n || 'r' || id, 'UTF8')), 'hex'), 1, now() AT TIME ZONE 'UTC'
    FROM users, generate_series(1, 3) AS n;
    INSERT INTO subscription_filters (collection_id, digest, condition)
    SELECT 1, encode(sha256(convert_to('f' || n, 'UTF8')), 'hex'), '{"address":"1"}' FROM generate_series(1, 100) AS n;""",
    # Two sessions each, used a few times.
    """INSERT INTO sessions (user_id, member_id, token_digest, expires_at, device)
    SELECT id, member_id, sha256(convert_to(n || 's' || id, 'UTF8')), now() AT TIME ZONE 'UTC' + interval '1 day',
        'MyApp/12 CFNetwork/1410.0.3 Darwin/22.6.0' FROM users, generate_series(1, 2) AS n;""",
    *["UPDATE sessions SET last_used_at = now() AT TIME ZONE 'UTC', write_count = write_count + 1;"] * 5,
    """INSERT INTO devices (session_id, user_id, platform, token, environment)
    SELECT min(id), user_id, 'apns', encode(sha256(convert_to('d' || user_id, 'UTF8')), 'hex'), 'production'
    FROM sessions GROUP BY user_id;
    INSERT INTO subscriptions (user_id, name, filter_id, kinds, is_once, channel, alert, has_badge, is_silent)
    SELECT users.id, 'new-messages', 1 + users.id % 100, '{created}', false, 'push', 'You have a new message', true, false
    FROM users;""",
    *["""INSERT INTO audit_events (event, user_id, address, request_id)
    SELECT 'signin', id, '203.0.113.' || id % 256, left(md5(random()::text), 16) FROM users;"""] * EVENTS,
    # A photo of each user: pending, then ready, with two small pictures. Triggers number it and count it.
    *["""INSERT INTO photos (user_id, name, title, random_id, content_type, state, upload_key, upload_digest)
    SELECT id, 'IMG_0001.jpg', 'My selfie', left(encode(sha256(convert_to(random()::text || id, 'UTF8')), 'hex'), 48),
        'image/jpeg', 'pending', sha256(convert_to(random()::text, 'UTF8')), sha256('') FROM users;
    UPDATE photos SET state = 'ready', byte_count = 250000, width = 3024, height = 4032, is_stripped = true
    WHERE state = 'pending';
    INSERT INTO renditions (photo_id, size, object_key, state)
    SELECT id, size, 'renditions/' || random_id || '/' || size, 'pending' FROM photos, unnest('{small,medium}'::text[]) AS size
    ON CONFLICT DO NOTHING;
    UPDATE renditions SET state = 'ready', content_type = 'image/jpeg', byte_count = 40000, digest = md5(object_key)
    WHERE state = 'pending';"""] * PHOTOS,
    # A record of each user, its grants, and the values of its index; some have a photo.
    *["""WITH added AS (
        INSERT INTO records (collection_id, id, owner_id, data, byte_count)
        SELECT 1, gen_random_uuid(), id, json_build_object('address', id || ' Main Street', 'comment', repeat('c', 150)), 200
        FROM users RETURNING key, owner_id
    ), numbered AS (
        UPDATE streams SET seq = seq + 1, record_count = record_count + 1, byte_count = byte_count + 200
        FROM added WHERE user_id = owner_id RETURNING id, key, owner_id, seq
    ), granted AS (
        INSERT INTO grants (stream_id, collection_id, record_key, rights, seq, shown_seq) SELECT id, 1, key, 15, seq, seq FROM numbered
    ), photographed AS (
        INSERT INTO photo_references (record_key, field, photo_id, photo_owner_id)
        SELECT key, 'photo', (SELECT min(photos.id) FROM photos WHERE user_id = owner_id), owner_id
        FROM numbered WHERE owner_id % 5 = 0
    )
    INSERT INTO record_index SELECT id, 1, 'address', 's' || owner_id || ' Main Street', key FROM numbered;"""] * OWN,
    # A message that one other user can read, and one to an inbox.
    *["""WITH added AS (
        INSERT INTO records (collection_id, recipient_id, id, owner_id, data, byte_count, sent_digest, sent_byte_count)
        SELECT {collection}, CASE WHEN {collection} = 3 THEN id % {users} + 1 ELSE 0 END, gen_random_uuid(), id,
            json_build_object('threadId', md5('t' || id), 'text', repeat('t', 80)), 150,
            CASE WHEN {collection} = 3 THEN sha256('') END, CASE WHEN {collection} = 3 THEN 150 END
        FROM users RETURNING key, owner_id
    ), numbered AS (
        UPDATE streams SET seq = seq + 1, record_count = record_count + 1 FROM added
        WHERE user_id = owner_id % {users} + 1 RETURNING id, key, owner_id, seq
    ), authors AS (
        INSERT INTO stream_authors AS old SELECT id, owner_id, 1, 1 FROM numbered
        ON CONFLICT (stream_id, author_id) DO UPDATE SET record_count = old.record_count + 1
    ), indexed AS (
        INSERT INTO record_index SELECT id, 2, 'threadId', 's' || md5('t' || owner_id), key FROM numbered WHERE {collection} = 2
    ), referring AS (
        INSERT INTO record_references (record_key, field, target_key, owner_id)
        SELECT key, 'threadId', key, owner_id FROM numbered WHERE {collection} = 2
    )
    INSERT INTO grants (stream_id, collection_id, record_key, rights, seq, shown_seq)
    SELECT id, {collection}, key, 1, seq, seq FROM numbered
    UNION ALL SELECT streams.id, {collection}, key, 15, NULL, NULL FROM numbered JOIN streams ON user_id = owner_id;
    """.replace("{collection}", collection) for collection in ["2"] * SHARED + ["3"] * SENT],
]


def fill(url, users):
    for statements in ROUNDS:
        subprocess.run(
            ["psql", "-X", "-q", "-w", "-v", "ON_ERROR_STOP=1", url], check=True, text=True,
            input=statements.replace("{users}", str(users)),
        )
        # As autovacuum does between the changes of days.
        subprocess.run(["psql", "-X", "-q", "-c", "VACUUM ANALYZE", url], check=True)


def measure(url):
    for name, rows, table, indexes in query(
        url,
        """SELECT relname, reltuples::bigint, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltuples > 200
        ORDER BY pg_total_relation_size(oid) DESC""",
    ):
        rows, table, indexes = int(rows), int(table), int(indexes)
        row = {"table": name, "rows": rows, "bytes": table, "index_bytes": indexes, "bytes_per_row": round((table + indexes) / rows)}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    fill(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
    measure(sys.argv[1])

-- Each request needs its user's member id, which never changes. The session has a copy, so that no request joins `users`.
-- migrate:up
-- NULL in sessions that an older version creates while both run.
ALTER TABLE sessions ADD COLUMN member_id text COLLATE "C";
UPDATE sessions SET member_id = users.member_id FROM users WHERE users.id = user_id;

-- migrate:down
ALTER TABLE sessions DROP COLUMN member_id;

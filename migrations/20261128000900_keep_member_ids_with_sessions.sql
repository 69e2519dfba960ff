-- Each request needs the id of its user as a member, which never changes. It is kept with the session, so that no request joins
-- `users`.
-- migrate:up
-- NULL in what an older version adds beside this one.
ALTER TABLE sessions ADD COLUMN member_id text COLLATE "C";
UPDATE sessions SET member_id = users.member_id FROM users WHERE users.id = user_id;

-- migrate:down
ALTER TABLE sessions DROP COLUMN member_id;

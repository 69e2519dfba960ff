-- Values of indexes get texts whose order, byte by byte, is that of the values. Numbers and times had another one, and long
-- values had a digest alone.
-- migrate:up
-- A number that is not zero: its digits without zeros at either end, and the power of ten above them.
CREATE FUNCTION number_parts(number numeric, OUT digits text, OUT power integer) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    whole text := ltrim(split_part(abs(number)::text, '.', 1), '0');
    fraction text := split_part(abs(number)::text, '.', 2);
BEGIN
    digits := trim(BOTH '0' FROM whole || fraction);
    power := CASE WHEN whole = '' THEN length(ltrim(fraction, '0')) - length(fraction) ELSE length(whole) END;
END
$$;

CREATE FUNCTION ordered_value(old text, member json) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    kind text;
    content text;
    parts record;
BEGIN
    IF old ~ '^t-?[0-9]{1,15}$' THEN RETURN 't' || (substr(old, 2)::bigint + 2000000000000000)::text; END IF;
    CASE json_typeof(member)
    WHEN 'number' THEN
        IF old = 'n0' THEN RETURN 'n1'; END IF;
        kind := 'n';
        parts := number_parts(member::text::numeric);
        content := '2' || lpad((parts.power + 5000)::text, 4, '0') || parts.digits;
        IF member::text LIKE '-%' THEN
            content := '0' || translate(substr(content, 2), '0123456789', '9876543210') || '~';
        END IF;
    WHEN 'string' THEN
        kind := 's';
        content := member #>> '{}';
    ELSE
        kind := 'j';
        content := member::text;
    END CASE;
    IF length(content) <= 128 THEN RETURN kind || content; END IF;
    RETURN kind || left(content, 128) || encode(sha256(convert_to(content, 'UTF8')), 'hex');
END
$$;

UPDATE record_index SET value = ordered_value(value, data -> field)
FROM records WHERE key = record_key AND left(value, 1) IN ('n', 't', 'h');
DROP FUNCTION ordered_value;
DROP FUNCTION number_parts;

-- An index of these names has the record's own times from now on, unless the schema describes such a field.
UPDATE record_index AS indexed SET value = 't' || (2000000000000000 + floor(1000 * extract(
    epoch FROM CASE field WHEN 'created_at' THEN created_at ELSE updated_at END
))::bigint)::text
FROM records, collections
WHERE records.key = record_key AND collections.id = indexed.collection_id AND field IN ('created_at', 'updated_at') AND (
    SELECT definition -> 'collections' -> name -> 'fields' -> field FROM schema_definitions ORDER BY version DESC LIMIT 1
) IS NULL;

-- A record's values, for conditions beside that of the index along which a list walks.
CREATE INDEX record_index_record_value_index ON record_index (record_key, stream_id, field);
DROP INDEX record_index_record_key_index;

-- migrate:down
CREATE INDEX record_index_record_key_index ON record_index (record_key);
DROP INDEX record_index_record_value_index;
-- Times of the records themselves were not indexed: members of their data were, which are looked up below.
UPDATE record_index AS indexed SET value = CASE WHEN data -> field IS NULL THEN '0' ELSE 'j' END
FROM records, collections
WHERE records.key = record_key AND collections.id = indexed.collection_id AND field IN ('created_at', 'updated_at') AND (
    SELECT definition -> 'collections' -> name -> 'fields' -> field FROM schema_definitions ORDER BY version DESC LIMIT 1
) IS NULL;

CREATE FUNCTION number_parts(number numeric, OUT digits text, OUT power integer) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    whole text := ltrim(split_part(abs(number)::text, '.', 1), '0');
    fraction text := split_part(abs(number)::text, '.', 2);
BEGIN
    digits := trim(BOTH '0' FROM whole || fraction);
    power := CASE WHEN whole = '' THEN length(ltrim(fraction, '0')) - length(fraction) ELSE length(whole) END;
END
$$;

CREATE FUNCTION unordered_value(new text, member json) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    old text;
    parts record;
BEGIN
    IF new LIKE 't%' THEN RETURN 't' || (substr(new, 2)::bigint - 2000000000000000)::text; END IF;
    CASE json_typeof(member)
    WHEN 'number' THEN
        IF new = 'n1' THEN RETURN 'n0'; END IF;
        parts := number_parts(member::text::numeric);
        old := 'n' || CASE WHEN member::text LIKE '-%' THEN '-' ELSE '' END || parts.digits || 'e'
            || (parts.power - length(parts.digits));
    WHEN 'string' THEN
        old := 's' || (member #>> '{}');
    ELSE
        old := 'j' || member::text;
    END CASE;
    IF octet_length(old) <= 64 THEN RETURN old; END IF;
    RETURN 'h' || encode(sha256(convert_to(old, 'UTF8')), 'hex');
END
$$;

UPDATE record_index SET value = unordered_value(value, data -> field)
FROM records WHERE key = record_key AND left(value, 1) IN ('n', 't', 's', 'j');
DROP FUNCTION unordered_value;
DROP FUNCTION number_parts;

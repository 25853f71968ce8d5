-- Nothing is stored twice, and texts that no SQL client reads are compressed: see `src/texts/pack.rs`. The texts that
-- are here already are packed after this migration, a batch at a time.

-- `encoding` 2: `body` is empty, and `packed` holds the text, compressed with dictionary 1.
ALTER TABLE texts ADD COLUMN packed BYTEA;
ALTER TABLE texts ALTER COLUMN packed SET STORAGE EXTERNAL;

CREATE TABLE pending_upgrades (
    name     TEXT   COLLATE "C" PRIMARY KEY,
    -- The last row that is done.
    position BIGINT NOT NULL
);
INSERT INTO pending_upgrades (name, position) SELECT 'pack_texts', 0 WHERE EXISTS (SELECT 1 FROM texts);

-- A step's job is its session's, and its previous hash is recomputed by whoever verifies it.
ALTER TABLE steps DROP COLUMN job_id;
ALTER TABLE steps DROP COLUMN prev_hash;

-- A message's path is its step's, and its node is part of the path: the last but one of the names between slashes.
DROP VIEW reasoning_logs;
ALTER TABLE reasoning_log_rows DROP COLUMN path;
ALTER TABLE reasoning_log_rows DROP COLUMN node;
CREATE VIEW reasoning_logs AS
SELECT m.id, m.session_id, m.message_index, m.role, t.body AS content, m.summary, m.summary_error,
       m.tool_name, m.tool_input, m.timestamp, s.path, coalesce(substring(s.path FROM '([^/]*)/[^/]*$'), '') AS node
FROM reasoning_log_rows m JOIN texts t ON t.id = m.content_id LEFT JOIN steps s ON s.id = m.step_id;

-- A message's event is its session and its number there: the rest of it is in the message's row.
UPDATE job_events e SET data = '[' || m.session_id || ',' || m.message_index || ']'
FROM reasoning_log_rows m JOIN trading_sessions s ON s.id = m.session_id
WHERE e.kind = 'message' AND s.job_id = e.job_id AND m.n = e.n
  AND m.session_id = CAST(CAST(e.data AS JSON) ->> 'session' AS BIGINT)
  AND m.message_index = CAST(CAST(e.data AS JSON) ->> 'message_index' AS BIGINT);

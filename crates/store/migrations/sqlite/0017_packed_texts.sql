-- Nothing is stored twice, and texts that no SQL client reads are compressed: see `src/texts/pack.rs`. The texts that
-- are here already are packed after this migration, a batch at a time.

-- `encoding` 2: `body` is empty, and `packed` holds the text, compressed with dictionary 1.
ALTER TABLE texts ADD COLUMN packed BLOB;

CREATE TABLE pending_upgrades (
    name     TEXT    PRIMARY KEY,
    -- The last row that is done.
    position INTEGER NOT NULL
) STRICT;
INSERT INTO pending_upgrades (name, position) SELECT 'pack_texts', 0 WHERE EXISTS (SELECT 1 FROM texts);

-- A step's job is its session's. Its previous hash and that of its rows are recomputed by whoever verifies it, who also
-- checks that links are numbered without gaps.
DROP VIEW attempts;
DROP INDEX steps_by_seq;
ALTER TABLE steps DROP COLUMN job_id;
ALTER TABLE steps DROP COLUMN prev_hash;
ALTER TABLE steps DROP COLUMN implied_hash;
CREATE VIEW attempts AS
SELECT step_id, attempt, sent_at, ended_at, error, input_tokens, cached_tokens, output_tokens, cost_usd
FROM step_attempts
UNION ALL
SELECT s.id, 1, s.started_at, CASE WHEN s.state = 'done' THEN s.ended_at END, NULL,
       CASE WHEN s.state = 'done' AND s.estimated_calls = 0 THEN s.input_tokens END,
       CASE WHEN s.state = 'done' AND s.estimated_calls = 0 THEN s.cached_tokens END,
       CASE WHEN s.state = 'done' AND s.estimated_calls = 0 THEN s.output_tokens END,
       CASE WHEN s.state = 'done' AND s.estimated_calls = 0 THEN s.cost_usd END
FROM steps s
WHERE s.class = 'external' AND s.reused_from IS NULL
  AND NOT EXISTS (SELECT 1 FROM step_attempts a WHERE a.step_id = s.id);

-- A message's path is its step's, and its node is part of the path: the last but one of the names between slashes.
DROP VIEW reasoning_logs;
ALTER TABLE reasoning_log_rows DROP COLUMN path;
ALTER TABLE reasoning_log_rows DROP COLUMN node;
CREATE VIEW reasoning_logs AS
SELECT m.id, m.session_id, m.message_index, m.role, t.body AS content, m.summary, m.summary_error,
       m.tool_name, m.tool_input, m.timestamp, s.path,
       substr(rtrim(rtrim(s.path, replace(s.path, '/', '')), '/'),
           1 + length(rtrim(rtrim(rtrim(s.path, replace(s.path, '/', '')), '/'),
               replace(s.path, '/', '')))) AS node
FROM reasoning_log_rows m JOIN texts t ON t.id = m.content_id LEFT JOIN steps s ON s.id = m.step_id;

-- A message's event is its session and its number there: the rest of it is in the message's row.
UPDATE job_events SET data = '[' || json_extract(data, '$.session') || ',' || json_extract(data, '$.message_index') || ']'
WHERE kind = 'message' AND EXISTS (
    SELECT 1 FROM reasoning_log_rows m JOIN trading_sessions s ON s.id = m.session_id
    WHERE m.session_id = json_extract(job_events.data, '$.session')
      AND m.message_index = json_extract(job_events.data, '$.message_index')
      AND m.n = job_events.n AND s.job_id = job_events.job_id);

-- Datasets are few, and their hashes long.
CREATE TABLE exposure_datasets (
    id   INTEGER PRIMARY KEY,
    hash BLOB    NOT NULL UNIQUE
) STRICT;
INSERT INTO exposure_datasets (hash) SELECT DISTINCT dataset FROM exposures;
CREATE TABLE exposures_by_dataset (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id      INTEGER NOT NULL REFERENCES trading_sessions (id) ON DELETE CASCADE,
    dataset_id      INTEGER NOT NULL REFERENCES exposure_datasets (id),
    series          TEXT    NOT NULL,
    first_date      TEXT,
    last_date       TEXT,
    row_count       INTEGER NOT NULL,
    latest_known_at INTEGER,
    step_id         INTEGER NOT NULL,
    ord             INTEGER NOT NULL
) STRICT;
INSERT INTO exposures_by_dataset (id, session_id, dataset_id, series, first_date, last_date, row_count,
    latest_known_at, step_id, ord)
SELECT e.id, e.session_id, d.id, e.series, e.first_date, e.last_date, e.row_count, e.latest_known_at, e.step_id, e.ord
FROM exposures e JOIN exposure_datasets d ON d.hash = e.dataset ORDER BY e.id;
DROP TABLE exposures;
ALTER TABLE exposures_by_dataset RENAME TO exposures;
CREATE INDEX exposures_by_session ON exposures (session_id);
CREATE INDEX exposures_by_series ON exposures (dataset_id, series, session_id, first_date, last_date);

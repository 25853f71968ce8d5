-- What people call their jobs. It may change at any time: no hash, fingerprint or export contains it.
CREATE TABLE job_labels (
    job_id     TEXT    PRIMARY KEY NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    name       TEXT,
    note       TEXT,
    updated_at INTEGER NOT NULL,
    -- The name of the token that changed it last; NULL: none was required.
    updated_by TEXT
) STRICT;

CREATE TABLE job_tags (
    job_id TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    tag    TEXT NOT NULL,
    PRIMARY KEY (job_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_tags_by_tag ON job_tags (tag, job_id);

-- Derived: what lists of jobs are searched, filtered and sorted by. One row per job.
CREATE TABLE job_search (
    job_id        TEXT    PRIMARY KEY NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    kind          TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    dataset       TEXT    NOT NULL DEFAULT '',
    dataset_hash  TEXT    NOT NULL DEFAULT '',
    first_day     TEXT    NOT NULL DEFAULT '',
    -- The agents' models, in order, each once; the first 200 characters.
    models        TEXT    NOT NULL DEFAULT '',
    -- Names and models of the agents, each between line feeds.
    agents        TEXT    NOT NULL DEFAULT '',
    -- Lowercase: ID, dataset, names and models of the agents…
    words         TEXT    NOT NULL,
    -- …and name, tags and note.
    label_words   TEXT    NOT NULL DEFAULT '',
    -- '0' and the name in lowercase; '1' without a name.
    name_key      TEXT    NOT NULL DEFAULT '1',
    -- Model-days that failed or are degraded.
    degraded_days INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX job_search_by_age ON job_search (created_at, job_id);
CREATE INDEX job_search_by_dataset ON job_search (dataset, job_id);
CREATE INDEX job_search_by_day ON job_search (first_day, job_id);
CREATE INDEX job_search_by_model ON job_search (models, job_id);
CREATE INDEX job_search_by_name ON job_search (name_key, job_id);
CREATE INDEX job_search_by_quality ON job_search (degraded_days, job_id);

-- What jobs were sorted by before it changed: a list that is being paged stays in the order of its first page. Rows
-- are removed after a day.
CREATE TABLE job_sort_changes (
    n          INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id     TEXT    NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    -- 'name', 'status' or 'quality'.
    sort       TEXT    NOT NULL,
    before     TEXT    NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX job_sort_changes_by_job ON job_sort_changes (job_id, sort, n);
CREATE INDEX job_sort_changes_by_time ON job_sort_changes (changed_at);

-- A branch may replace one of the agents.
INSERT INTO job_search (job_id, kind, created_at, dataset, dataset_hash, first_day, models, agents, words, degraded_days)
WITH config (job_id, config) AS (
    SELECT job_id, config FROM job_configs WHERE json_valid(config)
), agent (job_id, at, name, model) AS (
    SELECT c.job_id, a.key, json_extract(a.value, '$.name'),
        CASE WHEN json_extract(c.config, '$.branch.agent.name') = json_extract(a.value, '$.name')
            THEN json_extract(c.config, '$.branch.agent.model') ELSE json_extract(a.value, '$.model') END
    FROM config c, json_each(c.config, '$.agents') a
    WHERE json_type(c.config, '$.agents') = 'array' AND a.type = 'object'
), named (job_id, kind, created_at, dataset, dataset_hash, first_day, models, agents) AS (
    SELECT j.job_id, j.kind, j.created_at, coalesce(json_extract(c.config, '$.dataset.name'), ''),
        coalesce(json_extract(c.config, '$.dataset.hash'), ''), coalesce(json_extract(c.config, '$.start_date'), ''),
        coalesce((SELECT substr(group_concat(m.model, ', '), 1, 200) FROM (
            SELECT DISTINCT a.model FROM agent a WHERE a.job_id = j.job_id ORDER BY a.model) m), ''),
        coalesce((SELECT char(10) || group_concat(a.name || char(10) || a.model, char(10)) || char(10)
            FROM agent a WHERE a.job_id = j.job_id), '')
    FROM jobs j LEFT JOIN config c ON c.job_id = j.job_id
)
SELECT job_id, kind, created_at, dataset, dataset_hash, first_day, models, agents,
    lower(job_id || char(10) || dataset || agents),
    (SELECT count(*) FROM trading_sessions s WHERE s.job_id = named.job_id AND (s.status = 'failed'
        OR coalesce(CASE WHEN json_valid(s.metadata) THEN json_extract(s.metadata, '$.data_quality.state') END, 'ok') <> 'ok'))
FROM named;

CREATE TRIGGER job_status_changed AFTER UPDATE OF status ON jobs WHEN OLD.status <> NEW.status
BEGIN
    INSERT INTO job_sort_changes (job_id, sort, before, changed_at)
    VALUES (NEW.job_id, 'status', OLD.status, CAST(unixepoch('subsec') * 1000000 AS INTEGER));
END;

CREATE TRIGGER job_name_changed AFTER UPDATE OF name_key ON job_search WHEN OLD.name_key <> NEW.name_key
BEGIN
    INSERT INTO job_sort_changes (job_id, sort, before, changed_at)
    VALUES (NEW.job_id, 'name', OLD.name_key, CAST(unixepoch('subsec') * 1000000 AS INTEGER));
END;

CREATE TRIGGER job_quality_changed AFTER UPDATE OF degraded_days ON job_search
WHEN OLD.degraded_days <> NEW.degraded_days
BEGIN
    INSERT INTO job_sort_changes (job_id, sort, before, changed_at)
    VALUES (NEW.job_id, 'quality', CAST(OLD.degraded_days AS TEXT), CAST(unixepoch('subsec') * 1000000 AS INTEGER));
END;

-- The conditions are those of the index `degraded_sessions`.
CREATE TRIGGER session_quality_changed AFTER UPDATE OF status, metadata ON trading_sessions
WHEN (OLD.status = 'failed'
    OR coalesce(CASE WHEN json_valid(OLD.metadata) THEN json_extract(OLD.metadata, '$.data_quality.state') END, 'ok') <> 'ok')
  <> (NEW.status = 'failed'
    OR coalesce(CASE WHEN json_valid(NEW.metadata) THEN json_extract(NEW.metadata, '$.data_quality.state') END, 'ok') <> 'ok')
BEGIN
    UPDATE job_search SET degraded_days = degraded_days + CASE WHEN NEW.status = 'failed'
        OR coalesce(CASE WHEN json_valid(NEW.metadata) THEN json_extract(NEW.metadata, '$.data_quality.state') END, 'ok') <> 'ok'
        THEN 1 ELSE -1 END
    WHERE job_id = NEW.job_id;
END;

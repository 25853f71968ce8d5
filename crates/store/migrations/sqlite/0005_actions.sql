-- The assistant's work: the action log, plans with their tasks, and conversations.

-- One row a state of an action. `sequence` counts a job's rows from 1, without gaps; `plan_id` is NULL for
-- work that belongs to no plan, and all rows of a job have the same; `n` is the row's event, NULL where the
-- row was imported.
CREATE TABLE plan_action_logs (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    plan_id      INTEGER,
    job_id       TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    session_id   TEXT,
    user_message TEXT,
    action_kind  TEXT NOT NULL,
    action_name  TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed')),
    -- NULL until the action has ended.
    success      INTEGER,
    message      TEXT,
    details_json TEXT,
    sequence     INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    -- How many secrets were removed from the row before it was written.
    redactions   INTEGER NOT NULL DEFAULT 0,
    n            INTEGER,
    UNIQUE (job_id, sequence)
) STRICT;
CREATE INDEX plan_action_logs_by_plan ON plan_action_logs (plan_id, created_at);
CREATE INDEX plan_action_logs_by_chat ON plan_action_logs (session_id, created_at);
CREATE INDEX plan_action_logs_by_age ON plan_action_logs (created_at, job_id);

-- Every job: which plan it belongs to, how far it is, and the number that its next row gets, which outlives
-- rows that retention removes.
CREATE TABLE plan_job_index (
    job_id        TEXT PRIMARY KEY REFERENCES jobs (job_id) ON DELETE CASCADE,
    plan_id       INTEGER,
    job_type      TEXT NOT NULL,
    status        TEXT NOT NULL
        CHECK (status IN ('queued', 'running', 'completed', 'partial', 'failed', 'cancelled')),
    next_sequence INTEGER NOT NULL DEFAULT 1,
    rows_kept     INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX plan_job_index_by_plan ON plan_job_index (plan_id, created_at, job_id);

INSERT INTO plan_job_index (job_id, job_type, status, created_at, updated_at)
    SELECT job_id, kind, status, created_at, created_at FROM jobs;

-- Numbers for plans and tasks. None is given twice.
CREATE TABLE id_counters (
    kind    TEXT    PRIMARY KEY,
    next_id INTEGER NOT NULL
) STRICT;
INSERT INTO id_counters (kind, next_id) VALUES ('plan', 1), ('task', 1);

-- Which number the thing has that an action makes: always the same one, however often it is done again.
CREATE TABLE reserved_ids (
    job_id TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    path   TEXT NOT NULL,
    kind   TEXT NOT NULL,
    id     INTEGER NOT NULL,
    PRIMARY KEY (job_id, path, kind)
) STRICT, WITHOUT ROWID;

-- `origin_job` and `origin_path` say where a plan was made; NULL: by a person.
CREATE TABLE plans (
    id              INTEGER PRIMARY KEY,
    name            TEXT NOT NULL,
    goal            TEXT NOT NULL,
    status          TEXT NOT NULL
        CHECK (status IN ('queued', 'running', 'completed', 'partial', 'failed', 'cancelled')),
    chat_session_id TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    origin_job      TEXT,
    origin_path     TEXT,
    UNIQUE (origin_job, origin_path)
) STRICT;
CREATE INDEX plans_by_age ON plans (created_at, id);

-- `path` is the ids from the top down to the task itself, `/3/17`; `dependencies` a JSON array of ids.
CREATE TABLE plan_tasks (
    id               INTEGER PRIMARY KEY,
    plan_id          INTEGER NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
    parent_id        INTEGER,
    name             TEXT NOT NULL,
    status           TEXT NOT NULL
        CHECK (status IN ('queued', 'running', 'completed', 'failed', 'skipped')),
    instruction      TEXT NOT NULL,
    position         INTEGER NOT NULL,
    depth            INTEGER NOT NULL,
    path             TEXT NOT NULL,
    dependencies     TEXT NOT NULL,
    execution_result TEXT,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    origin_job       TEXT,
    origin_path      TEXT,
    UNIQUE (origin_job, origin_path)
) STRICT;
CREATE INDEX plan_tasks_by_plan ON plan_tasks (plan_id, parent_id, position);

CREATE TABLE chat_sessions (
    id         TEXT PRIMARY KEY,
    title      TEXT NOT NULL,
    language   TEXT NOT NULL CHECK (language IN ('zh', 'en')),
    plan_id    INTEGER REFERENCES plans (id) ON DELETE SET NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX chat_sessions_by_age ON chat_sessions (created_at, id);
CREATE INDEX chat_sessions_by_plan ON chat_sessions (plan_id) WHERE plan_id IS NOT NULL;

-- `n` counts a conversation's messages from 1; `job_id` is the job that answers.
CREATE TABLE chat_messages (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES chat_sessions (id) ON DELETE CASCADE,
    n          INTEGER NOT NULL,
    role       TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    content    TEXT NOT NULL,
    metadata   TEXT NOT NULL,
    job_id     TEXT REFERENCES jobs (job_id) ON DELETE SET NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (session_id, n)
) STRICT;
CREATE INDEX chat_messages_by_job ON chat_messages (job_id) WHERE job_id IS NOT NULL;

-- Tells the portable files of this record from those of others.
CREATE TABLE record_identity (
    id TEXT NOT NULL
) STRICT;
INSERT INTO record_identity (id) SELECT lower(hex(randomblob(16)));

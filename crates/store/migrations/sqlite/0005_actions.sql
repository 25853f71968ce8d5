-- The action log: one row a state of an action. `sequence` counts a job's rows from 1, without gaps;
-- `plan_id` is NULL for work that belongs to no plan; `n` is the row's event.

CREATE TABLE plan_action_logs (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    plan_id      INTEGER,
    job_id       TEXT    NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    session_id   TEXT,
    user_message TEXT,
    action_kind  TEXT    NOT NULL,
    action_name  TEXT    NOT NULL,
    status       TEXT    NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed')),
    -- NULL until the action has ended.
    success      INTEGER,
    message      TEXT,
    details_json TEXT,
    sequence     INTEGER    NOT NULL,
    created_at   INTEGER    NOT NULL,
    updated_at   INTEGER    NOT NULL,
    -- How many secrets were removed from the row before it was written.
    redactions   INTEGER    NOT NULL DEFAULT 0,
    n            INTEGER    NOT NULL,
    UNIQUE (job_id, sequence)
) STRICT;
CREATE INDEX plan_action_logs_by_plan ON plan_action_logs (plan_id, created_at);
CREATE INDEX plan_action_logs_by_chat ON plan_action_logs (session_id, created_at);
CREATE INDEX plan_action_logs_by_age ON plan_action_logs (created_at);

-- A job that has a log: which plan it belongs to, and the number that its next row gets, which outlives
-- rows that retention removes.
CREATE TABLE plan_job_index (
    job_id        TEXT    PRIMARY KEY REFERENCES jobs (job_id) ON DELETE CASCADE,
    plan_id       INTEGER,
    job_type      TEXT    NOT NULL,
    next_sequence INTEGER    NOT NULL DEFAULT 1,
    rows_kept     INTEGER    NOT NULL DEFAULT 0,
    created_at    INTEGER    NOT NULL,
    updated_at    INTEGER    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX plan_job_index_by_plan ON plan_job_index (plan_id, created_at);

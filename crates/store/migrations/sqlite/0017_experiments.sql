-- Experiments: jobs that run one configuration several times. What is planned, the manifest, never changes; the limit
-- that the jobs share may be raised later.
CREATE TABLE experiments (
    experiment_id TEXT    PRIMARY KEY NOT NULL,
    created_at INTEGER NOT NULL,
    manifest TEXT NOT NULL,
    -- blake3 of the manifest's canonical JSON.
    hash BLOB NOT NULL,
    -- The limit; NULL: none.
    max_tokens INTEGER,
    max_usd TEXT
) STRICT;
CREATE INDEX experiments_by_time ON experiments (created_at, experiment_id);

CREATE TABLE experiment_jobs (
    job_id TEXT    PRIMARY KEY NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    experiment_id TEXT    NOT NULL REFERENCES experiments (experiment_id) ON DELETE CASCADE,
    -- From 1.
    window_number INTEGER NOT NULL,
    trial INTEGER NOT NULL,
    -- What the job may spend of the limit while it runs, usage included. A job that is not running holds its usage.
    granted_tokens INTEGER NOT NULL DEFAULT 0,
    granted_usd TEXT NOT NULL DEFAULT '0',
    UNIQUE (experiment_id, window_number, trial)
) STRICT;

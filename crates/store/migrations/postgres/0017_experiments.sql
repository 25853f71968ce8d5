-- Experiments: jobs that run one configuration several times. What is planned, the manifest, never changes; the limit
-- that the jobs share may be raised later.
CREATE TABLE experiments (
    experiment_id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    created_at BIGINT NOT NULL,
    manifest TEXT NOT NULL,
    -- blake3 of the manifest's canonical JSON.
    hash BYTEA NOT NULL,
    -- The limit; NULL: none.
    max_tokens BIGINT,
    max_usd NUMERIC
);
CREATE INDEX experiments_by_time ON experiments (created_at, experiment_id);

CREATE TABLE experiment_jobs (
    job_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    experiment_id TEXT COLLATE "C" NOT NULL REFERENCES experiments (experiment_id) ON DELETE CASCADE,
    -- From 1.
    window_number BIGINT NOT NULL,
    trial BIGINT NOT NULL,
    -- What the job may spend of the limit while it runs, usage included. A job that is not running holds its usage.
    granted_tokens BIGINT NOT NULL DEFAULT 0,
    granted_usd NUMERIC NOT NULL DEFAULT 0,
    UNIQUE (experiment_id, window_number, trial)
);

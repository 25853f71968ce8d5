-- Workers' heartbeats. A lease is valid until its own `lease_until`, and for as long as its owner's heartbeat goes on.
CREATE TABLE workers (
    worker_id TEXT COLLATE "C" PRIMARY KEY,
    beat_until BIGINT NOT NULL
);

-- The number of parts of a job that different workers can run at the same time. 1: the job's own row is its lease.
ALTER TABLE jobs ADD COLUMN parts BIGINT NOT NULL DEFAULT 1;
-- The part that runs a day; 0: the job as a whole.
ALTER TABLE job_details ADD COLUMN part BIGINT NOT NULL DEFAULT 0;

-- The parts of jobs with more than one. The job's row has their common status and its own events.
CREATE TABLE job_parts (
    job_id TEXT COLLATE "C" NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    part BIGINT NOT NULL CHECK (part > 0),
    status TEXT NOT NULL
        CHECK (status IN ('queued', 'running', 'completed', 'partial', 'failed', 'cancelled')),
    -- Why it stopped: a JSON array.
    reasons TEXT NOT NULL DEFAULT '[]',
    lease_owner TEXT,
    lease_epoch BIGINT NOT NULL DEFAULT 0,
    lease_until BIGINT,
    -- The sequence number of the part's next event.
    next_seq BIGINT NOT NULL DEFAULT 1,
    crashes BIGINT NOT NULL DEFAULT 0,
    -- Its shares of the job's budget, and of the budget of the summaries.
    tokens BIGINT NOT NULL DEFAULT 0,
    usd NUMERIC NOT NULL DEFAULT 0,
    summary_tokens BIGINT NOT NULL DEFAULT 0,
    summary_usd NUMERIC NOT NULL DEFAULT 0,
    PRIMARY KEY (job_id, part)
);
CREATE INDEX job_parts_by_status ON job_parts (status, job_id, part);

-- What a job is to do, beside the job's own row: every transaction of a job writes that row, so it has to
-- stay small, and the config of many agents is not.
CREATE TABLE job_configs (
    job_id TEXT PRIMARY KEY REFERENCES jobs (job_id) ON DELETE CASCADE,
    config TEXT NOT NULL
) STRICT;
INSERT INTO job_configs (job_id, config) SELECT job_id, config FROM jobs;
ALTER TABLE jobs DROP COLUMN config;

-- Attempts whose usage is not known: they are in the sums beside by an estimate.
ALTER TABLE steps ADD COLUMN estimated_calls BIGINT NOT NULL DEFAULT 0;
ALTER TABLE trading_sessions ADD COLUMN estimated_calls BIGINT NOT NULL DEFAULT 0;
ALTER TABLE trading_sessions ADD COLUMN detached_estimated_calls BIGINT NOT NULL DEFAULT 0;
-- How many times in a row a job's process has died without any progress of the job.
ALTER TABLE jobs ADD COLUMN crashes BIGINT NOT NULL DEFAULT 0;

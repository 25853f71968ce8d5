-- A job's sessions in the order in which they were opened: a page of them is read, not sorted.
CREATE INDEX trading_sessions_by_job ON trading_sessions (job_id, started_at, id);

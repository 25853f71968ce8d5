-- The rules that a job runs under, and the chains of rules version 2. What is there already is of version 1: its
-- chains stay as they are, and what is new for them stays empty.

ALTER TABLE jobs ADD COLUMN rules_version INTEGER NOT NULL DEFAULT 1;

-- Hash of what the job is to do, and of what it branched from: the text is its head then.
ALTER TABLE job_configs ADD COLUMN anchor BLOB;
ALTER TABLE job_configs ADD COLUMN parent_head BLOB;

-- The newest link of the session that did a skipped day.
ALTER TABLE job_details ADD COLUMN skipped_head BLOB;

-- Each agent's chain of days: how many links, and the newest one's hash. No row: none yet.
CREATE TABLE agent_chains (
    job_id TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    agent  TEXT NOT NULL,
    days   INTEGER NOT NULL,
    head   BLOB NOT NULL,
    PRIMARY KEY (job_id, agent)
) STRICT, WITHOUT ROWID;

-- The chain of a session's summaries, apart from the session's own; which link of it a summary is, and which
-- of the session's chain a node's instructions are.
ALTER TABLE trading_sessions ADD COLUMN detached_length INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trading_sessions ADD COLUMN detached_head BLOB;
ALTER TABLE trading_sessions ADD COLUMN summary_seq INTEGER;
ALTER TABLE reasoning_log_rows ADD COLUMN summary_seq INTEGER;
ALTER TABLE session_instructions ADD COLUMN seq INTEGER;
DROP INDEX steps_by_seq;
CREATE UNIQUE INDEX steps_by_seq ON steps (session_id, detached, seq) WHERE seq IS NOT NULL;

-- The rules that a job runs under, and the chains of rules version 2. What is there already is of version 1: its
-- chains stay as they are, and what is new for them stays empty.

ALTER TABLE jobs ADD COLUMN rules_version BIGINT NOT NULL DEFAULT 1;

-- Hash of what the job is to do, and of what it branched from: the text is its head then.
ALTER TABLE job_configs ADD COLUMN anchor BYTEA;
ALTER TABLE job_configs ADD COLUMN parent_head BYTEA;

-- The newest link of the session that did a skipped day.
ALTER TABLE job_details ADD COLUMN skipped_head BYTEA;

-- Each agent's chain of days: how many links, and the newest one's hash. No row: none yet.
CREATE TABLE agent_chains (
    job_id TEXT COLLATE "C" NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    agent  TEXT COLLATE "C" NOT NULL,
    days   BIGINT NOT NULL,
    head   BYTEA NOT NULL,
    PRIMARY KEY (job_id, agent)
);

-- The chain of a session's summaries, apart from the session's own; which link of it a summary is, and which
-- of the session's chain a node's instructions are.
ALTER TABLE trading_sessions ADD COLUMN detached_length BIGINT NOT NULL DEFAULT 0;
ALTER TABLE trading_sessions ADD COLUMN detached_head BYTEA;
ALTER TABLE trading_sessions ADD COLUMN summary_seq BIGINT;
ALTER TABLE reasoning_log_rows ADD COLUMN summary_seq BIGINT;
ALTER TABLE session_instructions ADD COLUMN seq BIGINT;
DROP INDEX steps_by_seq;
CREATE UNIQUE INDEX steps_by_seq ON steps (session_id, detached, seq) WHERE seq IS NOT NULL;

-- Which of an agent's days count is said per job and agent, for an account is one agent's: what a job
-- replaces, what it continues, and in which session a skipped day is done.
CREATE TABLE job_supersessions (
    -- The job that replaces.
    job_id         TEXT COLLATE "C" NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    agent          TEXT COLLATE "C" NOT NULL,
    superseded_job TEXT COLLATE "C" NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    PRIMARY KEY (superseded_job, agent, job_id)
);
CREATE INDEX job_supersessions_by_job ON job_supersessions (job_id);

CREATE TABLE job_continuations (
    job_id        TEXT COLLATE "C" NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    agent         TEXT COLLATE "C" NOT NULL,
    -- No reference: an account whose past was deleted must not look like one that begins later.
    continued_job TEXT COLLATE "C" NOT NULL,
    -- The last day that counts of it.
    date          TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (job_id, agent)
);
CREATE INDEX job_continuations_by_continued ON job_continuations (continued_job, agent);

-- Where a skipped day is done; no references, for the same reason.
ALTER TABLE job_details ADD COLUMN skipped_job TEXT COLLATE "C";
ALTER TABLE job_details ADD COLUMN skipped_session BIGINT;
DROP INDEX job_details_by_agent;
CREATE INDEX job_details_by_agent ON job_details (agent_hash, date);

INSERT INTO job_continuations (job_id, agent, continued_job, date)
SELECT k.job_id, e.key, e.value ->> 'job', e.value ->> 'date'
FROM (
    SELECT j.job_id, c.config::json -> 'continues' AS continues
    FROM jobs j JOIN job_configs c ON c.job_id = j.job_id WHERE j.kind IN ('simulate', 'profile')
) AS k CROSS JOIN LATERAL json_each(k.continues) e;

-- A job was superseded as a whole; of its agents only those count as replaced that the newer job has too,
-- with the same config or from the same import.
INSERT INTO job_supersessions (job_id, agent, superseded_job)
SELECT DISTINCT o.superseded_by, od.model, o.job_id
FROM jobs o JOIN job_configs c ON c.job_id = o.job_id
    JOIN job_details od ON od.job_id = o.job_id
    JOIN job_details nd ON nd.job_id = o.superseded_by AND nd.model = od.model
WHERE nd.agent_hash = od.agent_hash OR (
    o.kind = 'simulate' AND c.config::json -> 'imported' IS NOT NULL);

UPDATE jobs SET superseded_by = NULL WHERE superseded_by IS NOT NULL AND EXISTS (
    SELECT 1 FROM job_details d WHERE d.job_id = jobs.job_id AND NOT EXISTS (
        SELECT 1 FROM job_supersessions s WHERE s.superseded_job = d.job_id AND s.agent = d.model));

-- The session of a skipped day, however many jobs skipped it one after the other.
WITH RECURSIVE walk (job_id, model, date, owner) AS (
    SELECT d.job_id, d.model, d.date, k.continued_job
    FROM job_details d JOIN job_continuations k ON k.job_id = d.job_id AND k.agent = d.model
    WHERE d.status = 'skipped' AND d.date <= k.date
    UNION
    SELECT w.job_id, w.model, w.date, k.continued_job
    FROM walk w
        JOIN job_details o ON o.job_id = w.owner AND o.model = w.model AND o.date = w.date
            AND o.status = 'skipped'
        JOIN job_continuations k ON k.job_id = w.owner AND k.agent = w.model AND w.date <= k.date
)
UPDATE job_details SET skipped_job = done.job_id, skipped_session = done.id
FROM (
    SELECT w.job_id AS for_job, w.model AS for_model, w.date AS for_date, s.job_id, s.id
    FROM walk w JOIN trading_sessions s ON s.job_id = w.owner AND s.model = w.model AND s.date = w.date
    WHERE s.completed_at IS NOT NULL
) AS done
WHERE job_details.job_id = done.for_job AND job_details.model = done.for_model
    AND job_details.date = done.for_date;

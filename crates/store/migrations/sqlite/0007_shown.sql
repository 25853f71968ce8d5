-- Who was shown something: from a series and its days, or from a memory, to the sessions.
CREATE INDEX exposures_by_series ON exposures (dataset, series, session_id, first_date, last_date);
CREATE INDEX session_memory_by_memory ON session_memory (kind, memory_id, session_id);

-- What readers think of a session. It may change at any time: no hash, fingerprint or canonical export contains it. A
-- session without a score and a note has no row.
CREATE TABLE session_reviews (
    session_id BIGINT PRIMARY KEY NOT NULL REFERENCES trading_sessions (id) ON DELETE CASCADE,
    -- 1, bad, to 5, good.
    score BIGINT CHECK (score BETWEEN 1 AND 5),
    note TEXT,
    updated_at BIGINT NOT NULL,
    -- The name of the token that changed it last; NULL: none was required.
    updated_by TEXT
);

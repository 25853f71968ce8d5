-- Workers' heartbeats. A lease is valid until its own `lease_until`, and for as long as its owner's heartbeat goes on.
CREATE TABLE workers (
    worker_id TEXT COLLATE "C" PRIMARY KEY,
    beat_until BIGINT NOT NULL
);

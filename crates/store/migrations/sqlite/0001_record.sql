-- The record. Instants are microseconds since 1970 UTC; dates are YYYY-MM-DD; hashes are 32 bytes of
-- blake3; decimals are exact TEXT, with a generated REAL beside those that readers filter or sort by.

CREATE TABLE texts (
    id       INTEGER PRIMARY KEY,
    hash     BLOB    NOT NULL UNIQUE,
    body     TEXT    NOT NULL,
    -- 0: as it is; 1: a JSON string, because the text holds a NUL.
    encoding INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Words of the texts that are messages. The rows are made by our own tokeniser, so that no input is
-- ever FTS syntax: see `src/search.rs`.
CREATE VIRTUAL TABLE text_search USING fts5(words, content = '', detail = none, tokenize = 'ascii');

CREATE TABLE jobs (
    job_id           TEXT    PRIMARY KEY,
    kind             TEXT    NOT NULL,
    status           TEXT    NOT NULL
        CHECK (status IN ('queued', 'running', 'completed', 'partial', 'failed', 'cancelled')),
    config           TEXT    NOT NULL,
    fingerprint      BLOB    NOT NULL,
    error            TEXT,
    warnings         TEXT    NOT NULL,
    parent           TEXT    REFERENCES jobs (job_id) ON DELETE SET NULL,
    superseded_by    TEXT    REFERENCES jobs (job_id) ON DELETE SET NULL,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    lease_owner      TEXT,
    lease_epoch      INTEGER NOT NULL DEFAULT 0,
    lease_until      INTEGER,
    -- The n that the job's next event gets.
    next_seq         INTEGER NOT NULL DEFAULT 1,
    created_at       INTEGER NOT NULL,
    started_at       INTEGER,
    completed_at     INTEGER
) STRICT;
CREATE INDEX jobs_by_status ON jobs (status, created_at, job_id);
CREATE INDEX jobs_by_age ON jobs (created_at, job_id);
CREATE INDEX jobs_by_parent ON jobs (parent) WHERE parent IS NOT NULL;
CREATE INDEX jobs_by_successor ON jobs (superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE job_details (
    job_id       TEXT    NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    date         TEXT    NOT NULL,
    model        TEXT    NOT NULL,
    agent_hash   BLOB    NOT NULL,
    status       TEXT    NOT NULL
        CHECK (status IN ('queued', 'running', 'completed', 'failed', 'skipped')),
    error        TEXT,
    started_at   INTEGER,
    completed_at INTEGER,
    PRIMARY KEY (job_id, date, model)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_details_by_agent ON job_details (agent_hash, date) WHERE status = 'completed';
CREATE INDEX job_details_by_model ON job_details (model, status);

CREATE TABLE job_events (
    job_id     TEXT    NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    n          INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    data       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (job_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE trading_sessions (
    id                     INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id                 TEXT    NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    date                   TEXT    NOT NULL,
    model                  TEXT    NOT NULL,
    session_summary        TEXT,
    summary_error          TEXT,
    started_at             INTEGER NOT NULL,
    completed_at           INTEGER,
    total_messages         INTEGER,
    -- 'running' until it is closed.
    status                 TEXT    NOT NULL CHECK (status IN ('running', 'completed', 'failed')),
    error                  TEXT,
    metadata               TEXT,
    starting_position      TEXT,
    cash                   TEXT,
    portfolio_value        TEXT,
    -- The state that the agent's next day starts from.
    state_hash             BLOB,
    next_message           INTEGER NOT NULL DEFAULT 0,
    -- The chain: how many links, the newest one's hash, and which link is the session's close.
    chain_length           INTEGER NOT NULL DEFAULT 0,
    chain_head             BLOB    NOT NULL,
    close_seq              INTEGER,
    input_tokens           INTEGER NOT NULL DEFAULT 0,
    cached_tokens          INTEGER NOT NULL DEFAULT 0,
    output_tokens          INTEGER NOT NULL DEFAULT 0,
    cost_usd               TEXT    NOT NULL DEFAULT '0',
    detached_input_tokens  INTEGER NOT NULL DEFAULT 0,
    detached_cached_tokens INTEGER NOT NULL DEFAULT 0,
    detached_output_tokens INTEGER NOT NULL DEFAULT 0,
    detached_cost_usd      TEXT    NOT NULL DEFAULT '0',
    cash_real              REAL    GENERATED ALWAYS AS (CAST(cash AS REAL)) VIRTUAL,
    portfolio_value_real   REAL    GENERATED ALWAYS AS (CAST(portfolio_value AS REAL)) VIRTUAL,
    UNIQUE (job_id, date, model)
) STRICT;
CREATE INDEX trading_sessions_by_start ON trading_sessions (started_at, id);
CREATE INDEX trading_sessions_by_date ON trading_sessions (date, model);

CREATE TABLE session_instructions (
    session_id INTEGER NOT NULL REFERENCES trading_sessions (id) ON DELETE CASCADE,
    node       TEXT    NOT NULL,
    hash       BLOB    NOT NULL,
    n          INTEGER NOT NULL,
    PRIMARY KEY (session_id, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE steps (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id        TEXT    NOT NULL,
    session_id    INTEGER NOT NULL REFERENCES trading_sessions (id) ON DELETE CASCADE,
    -- 1: of the summaries' own tape.
    detached      INTEGER NOT NULL,
    path          TEXT    NOT NULL,
    -- Which link of the session's chain it is; NULL while it is open.
    seq           INTEGER,
    kind          TEXT    NOT NULL,
    class         TEXT    NOT NULL CHECK (class IN ('external', 'local', 'order', 'guard')),
    digest        BLOB    NOT NULL,
    request_ref   BLOB,
    state         TEXT    NOT NULL CHECK (state IN ('intent', 'done', 'abandoned')),
    outcome_kind  TEXT    CHECK (outcome_kind IN ('ok', 'failed', 'timed_out', 'refused', 'unknown')),
    outcome_ref   BLOB,
    implied_hash  BLOB,
    reused_from   TEXT,
    lease_epoch   INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd      TEXT,
    started_at    INTEGER NOT NULL,
    ended_at      INTEGER,
    -- The event of a guard's verdict.
    n             INTEGER,
    prev_hash     BLOB,
    hash          BLOB,
    CHECK ((state = 'done') = (outcome_kind IS NOT NULL)),
    UNIQUE (session_id, detached, path)
) STRICT;
CREATE UNIQUE INDEX steps_by_seq ON steps (session_id, seq) WHERE seq IS NOT NULL;
CREATE INDEX steps_open ON steps (session_id) WHERE state = 'intent';

CREATE TABLE step_attempts (
    step_id       INTEGER NOT NULL REFERENCES steps (id) ON DELETE CASCADE,
    attempt       INTEGER NOT NULL,
    sent_at       INTEGER NOT NULL,
    ended_at      INTEGER,
    error         TEXT,
    input_tokens  INTEGER,
    cached_tokens INTEGER,
    output_tokens INTEGER,
    cost_usd      TEXT,
    PRIMARY KEY (step_id, attempt)
) STRICT, WITHOUT ROWID;

-- Rows that steps imply. `step_id` and `ord` say which step and the how-manieth row of it, so that the
-- chain can be recomputed from the rows; `n` is the row's event.

CREATE TABLE reasoning_log_rows (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id    INTEGER NOT NULL REFERENCES trading_sessions (id) ON DELETE CASCADE,
    message_index INTEGER NOT NULL,
    role          TEXT    NOT NULL CHECK (role IN ('user', 'assistant', 'tool')),
    content_id    INTEGER NOT NULL REFERENCES texts (id),
    summary       TEXT,
    summary_error TEXT,
    tool_name     TEXT,
    tool_input    TEXT,
    timestamp     INTEGER NOT NULL,
    path          TEXT    NOT NULL,
    node          TEXT    NOT NULL,
    step_id       INTEGER NOT NULL,
    ord           INTEGER NOT NULL,
    n             INTEGER NOT NULL,
    UNIQUE (session_id, message_index)
) STRICT;
CREATE INDEX reasoning_log_rows_by_content ON reasoning_log_rows (content_id);

CREATE VIEW reasoning_logs AS
SELECT m.id, m.session_id, m.message_index, m.role, t.body AS content, m.summary, m.summary_error,
       m.tool_name, m.tool_input, m.timestamp, m.path, m.node
FROM reasoning_log_rows m JOIN texts t ON t.id = m.content_id;

CREATE TABLE positions (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id               TEXT    NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    date                 TEXT    NOT NULL,
    model                TEXT    NOT NULL,
    action_id            INTEGER NOT NULL CHECK (action_id >= 1),
    action_type          TEXT    NOT NULL CHECK (action_type IN ('buy', 'sell', 'short', 'cover', 'stop',
        'target', 'liquidation', 'split', 'dividend', 'no_trade')),
    symbol               TEXT,
    amount               TEXT    NOT NULL,
    price                TEXT,
    cash                 TEXT    NOT NULL,
    portfolio_value      TEXT    NOT NULL,
    daily_profit         TEXT,
    daily_return_pct     TEXT,
    session_id           INTEGER REFERENCES trading_sessions (id) ON DELETE CASCADE,
    created_at           INTEGER NOT NULL,
    step_id              INTEGER,
    ord                  INTEGER,
    amount_real          REAL    GENERATED ALWAYS AS (CAST(amount AS REAL)) VIRTUAL,
    price_real           REAL    GENERATED ALWAYS AS (CAST(price AS REAL)) VIRTUAL,
    cash_real            REAL    GENERATED ALWAYS AS (CAST(cash AS REAL)) VIRTUAL,
    portfolio_value_real REAL    GENERATED ALWAYS AS (CAST(portfolio_value AS REAL)) VIRTUAL,
    daily_profit_real    REAL    GENERATED ALWAYS AS (CAST(daily_profit AS REAL)) VIRTUAL,
    UNIQUE (job_id, date, model, action_id)
) STRICT;
CREATE INDEX positions_by_session ON positions (session_id, symbol);

CREATE TABLE orders (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id    INTEGER NOT NULL REFERENCES trading_sessions (id) ON DELETE CASCADE,
    order_id      TEXT    NOT NULL,
    symbol        TEXT    NOT NULL,
    side          TEXT    NOT NULL CHECK (side IN ('buy', 'sell', 'short', 'cover', 'stop_change')),
    quantity      TEXT    NOT NULL,
    status        TEXT    NOT NULL CHECK (status IN ('filled', 'rejected', 'pending', 'expired')),
    code          TEXT,
    message       TEXT,
    numbers       TEXT,
    price         TEXT,
    fee           TEXT,
    slippage      TEXT,
    realised_pnl  TEXT,
    stop          TEXT,
    target        TEXT,
    leverage      TEXT,
    created_at    INTEGER NOT NULL,
    step_id       INTEGER NOT NULL,
    ord           INTEGER NOT NULL,
    n             INTEGER NOT NULL,
    quantity_real REAL    GENERATED ALWAYS AS (CAST(quantity AS REAL)) VIRTUAL,
    price_real    REAL    GENERATED ALWAYS AS (CAST(price AS REAL)) VIRTUAL
) STRICT;
CREATE INDEX orders_by_session ON orders (session_id, symbol);

CREATE TABLE exposures (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id      INTEGER NOT NULL REFERENCES trading_sessions (id) ON DELETE CASCADE,
    dataset         BLOB    NOT NULL,
    series          TEXT    NOT NULL,
    first_date      TEXT,
    last_date       TEXT,
    row_count       INTEGER NOT NULL,
    latest_known_at INTEGER,
    step_id         INTEGER NOT NULL,
    ord             INTEGER NOT NULL
) STRICT;
CREATE INDEX exposures_by_session ON exposures (session_id);

CREATE TABLE position_snapshots (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id     INTEGER NOT NULL REFERENCES trading_sessions (id) ON DELETE CASCADE,
    symbol         TEXT    NOT NULL,
    position_id    TEXT    NOT NULL,
    quantity       TEXT    NOT NULL,
    avg_price      TEXT    NOT NULL,
    close          TEXT    NOT NULL,
    unrealised_pnl TEXT    NOT NULL,
    stop           TEXT,
    leverage       TEXT    NOT NULL,
    step_id        INTEGER NOT NULL,
    ord            INTEGER NOT NULL
) STRICT;
CREATE INDEX position_snapshots_by_session ON position_snapshots (session_id);

CREATE TABLE holdings (
    session_id    INTEGER NOT NULL REFERENCES trading_sessions (id) ON DELETE CASCADE,
    symbol        TEXT    NOT NULL,
    quantity      TEXT    NOT NULL,
    price         TEXT    NOT NULL,
    quantity_real REAL    GENERATED ALWAYS AS (CAST(quantity AS REAL)) VIRTUAL,
    price_real    REAL    GENERATED ALWAYS AS (CAST(price AS REAL)) VIRTUAL,
    PRIMARY KEY (session_id, symbol)
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_states (
    job_id     TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    agent      TEXT NOT NULL,
    -- NULL: the state before the first day.
    after_date TEXT,
    hash       BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX agent_states_once ON agent_states (job_id, agent, coalesce(after_date, ''));

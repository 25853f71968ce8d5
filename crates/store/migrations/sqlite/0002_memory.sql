-- The trader's memory. Rows of the first four tables are implied by steps, as those of 0001 are: `step_id`
-- and `ord` say which step and the how-manieth row of it.

CREATE TABLE trader_round_memory (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id         TEXT    NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    model          TEXT    NOT NULL,
    session_id     INTEGER NOT NULL REFERENCES trading_sessions (id) ON DELETE CASCADE,
    round_id       INTEGER NOT NULL,
    situation      TEXT    NOT NULL,
    summary        TEXT    NOT NULL,
    source         TEXT    NOT NULL CHECK (source IN ('model', 'repaired', 'template')),
    note           TEXT,
    assets         TEXT    NOT NULL,
    is_open_entry  INTEGER NOT NULL,
    degraded       INTEGER NOT NULL,
    known_at       INTEGER NOT NULL,
    prunes_through INTEGER,
    -- 1: a later round has pruned it. It stays for the chain, and nobody reads it as memory any more.
    pruned         INTEGER NOT NULL DEFAULT 0,
    created_at     INTEGER NOT NULL,
    step_id        INTEGER NOT NULL,
    ord            INTEGER NOT NULL,
    UNIQUE (job_id, model, round_id)
) STRICT;
CREATE INDEX trader_round_memory_by_session ON trader_round_memory (session_id);

-- Rows are added, never changed: a position's newest one holds.
CREATE TABLE open_position_contexts (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id      TEXT    NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    model       TEXT    NOT NULL,
    session_id  INTEGER NOT NULL REFERENCES trading_sessions (id) ON DELETE CASCADE,
    position_id TEXT    NOT NULL,
    symbol      TEXT    NOT NULL,
    side        TEXT    NOT NULL CHECK (side IN ('long', 'short')),
    state       TEXT    NOT NULL CHECK (state IN ('open', 'converted', 'closed')),
    round_id    INTEGER,
    summary     TEXT    NOT NULL,
    opened_at   INTEGER NOT NULL,
    entry_price TEXT    NOT NULL,
    quantity    TEXT    NOT NULL,
    stop_loss   TEXT,
    take_profit TEXT,
    leverage    TEXT    NOT NULL,
    split_ratio TEXT    NOT NULL,
    known_at    INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    step_id     INTEGER NOT NULL,
    ord         INTEGER NOT NULL
) STRICT;
CREATE INDEX open_position_contexts_by_position ON open_position_contexts (job_id, model, position_id, id);
CREATE INDEX open_position_contexts_by_session ON open_position_contexts (session_id);

CREATE TABLE trade_reflections (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id              TEXT    NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    model               TEXT    NOT NULL,
    session_id          INTEGER NOT NULL REFERENCES trading_sessions (id) ON DELETE CASCADE,
    trade_id            INTEGER NOT NULL,
    position_id         TEXT    NOT NULL,
    part                INTEGER NOT NULL,
    position_closed     INTEGER NOT NULL,
    cause               TEXT    NOT NULL CHECK (cause IN ('sell', 'cover', 'stop', 'target', 'liquidation')),
    symbol              TEXT    NOT NULL,
    side                TEXT    NOT NULL CHECK (side IN ('long', 'short')),
    entry_time          INTEGER NOT NULL,
    exit_time           INTEGER NOT NULL,
    holding_days        INTEGER NOT NULL,
    quantity            TEXT    NOT NULL,
    entry_price         TEXT    NOT NULL,
    exit_price          TEXT    NOT NULL,
    pnl                 TEXT    NOT NULL,
    return_pct          TEXT,
    leverage            TEXT    NOT NULL,
    notional            TEXT    NOT NULL,
    summary             TEXT    NOT NULL,
    execution_deviation TEXT    NOT NULL,
    hypothesis_check    TEXT    NOT NULL,
    error_tags          TEXT    NOT NULL,
    value_assessment    TEXT    NOT NULL CHECK (value_assessment IN ('low', 'medium', 'high')),
    next_rules          TEXT    NOT NULL,
    thesis              TEXT,
    source              TEXT    NOT NULL CHECK (source IN ('model', 'repaired', 'template')),
    note                TEXT,
    known_at            INTEGER NOT NULL,
    -- Its words, as `text_search` has them.
    text_id             INTEGER NOT NULL REFERENCES texts (id),
    created_at          INTEGER NOT NULL,
    step_id             INTEGER NOT NULL,
    ord                 INTEGER NOT NULL,
    pnl_real            REAL    GENERATED ALWAYS AS (CAST(pnl AS REAL)) VIRTUAL,
    UNIQUE (job_id, model, trade_id)
) STRICT;
CREATE INDEX trade_reflections_by_exit ON trade_reflections (exit_time, id);
CREATE INDEX trade_reflections_by_symbol ON trade_reflections (symbol, exit_time, id);
CREATE INDEX trade_reflections_by_session ON trade_reflections (session_id);

-- What a session's trader was given; the texts are in the outcome of the step.
CREATE TABLE session_memory (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER NOT NULL REFERENCES trading_sessions (id) ON DELETE CASCADE,
    kind       TEXT    NOT NULL CHECK (kind IN ('open_position_context', 'trader_round', 'trade')),
    memory_id  TEXT    NOT NULL,
    -- The job that it was taken over from.
    job        TEXT,
    known_at   INTEGER NOT NULL,
    step_id    INTEGER NOT NULL,
    ord        INTEGER NOT NULL
) STRICT;
CREATE INDEX session_memory_by_session ON session_memory (session_id);

-- Old reflections folded into one per instrument and period; made by a command, the originals stay.
CREATE TABLE trade_reflection_archives (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id     TEXT    NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    model      TEXT    NOT NULL,
    length     TEXT    NOT NULL CHECK (length IN ('quarter', 'half-year')),
    period     TEXT    NOT NULL,
    symbol     TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    UNIQUE (job_id, model, length, period, symbol)
) STRICT;

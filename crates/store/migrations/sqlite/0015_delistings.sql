-- A position may be closed by a delisting. SQLite changes a CHECK by making the table anew, and dropping the old one
-- takes the vectors along, so these are set aside.
CREATE TEMP TABLE kept_vectors AS SELECT * FROM reflection_vectors;
CREATE TABLE reflections_with_delistings (
    id                  INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id              TEXT    NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    model               TEXT    NOT NULL,
    session_id          INTEGER NOT NULL REFERENCES trading_sessions (id) ON DELETE CASCADE,
    trade_id            INTEGER NOT NULL,
    position_id         TEXT    NOT NULL,
    part                INTEGER NOT NULL,
    position_closed     INTEGER NOT NULL,
    cause               TEXT    NOT NULL CHECK (cause IN ('sell', 'cover', 'stop', 'target', 'liquidation', 'delisting')),
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
INSERT INTO reflections_with_delistings (id, job_id, model, session_id, trade_id, position_id, part, position_closed, cause, symbol, side,
    entry_time, exit_time, holding_days, quantity, entry_price, exit_price, pnl, return_pct,
    leverage, notional, summary, execution_deviation, hypothesis_check, error_tags,
    value_assessment, next_rules, thesis, source, note, known_at, text_id, created_at, step_id, ord)
SELECT id, job_id, model, session_id, trade_id, position_id, part, position_closed, cause, symbol, side,
    entry_time, exit_time, holding_days, quantity, entry_price, exit_price, pnl, return_pct,
    leverage, notional, summary, execution_deviation, hypothesis_check, error_tags,
    value_assessment, next_rules, thesis, source, note, known_at, text_id, created_at, step_id, ord FROM trade_reflections;
DROP TABLE trade_reflections;
ALTER TABLE reflections_with_delistings RENAME TO trade_reflections;
CREATE INDEX trade_reflections_by_exit ON trade_reflections (exit_time, id);
CREATE INDEX trade_reflections_by_symbol ON trade_reflections (symbol, exit_time, id);
CREATE INDEX trade_reflections_by_session ON trade_reflections (session_id);
INSERT INTO reflection_vectors SELECT * FROM kept_vectors;
DROP TABLE kept_vectors;

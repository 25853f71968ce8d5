-- What an account is recomputed from: financing is an action, and an action says its terms. SQLite changes a
-- CHECK by making the table anew.
CREATE TABLE positions_with_terms (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id               TEXT    NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    date                 TEXT    NOT NULL,
    model                TEXT    NOT NULL,
    action_id            INTEGER NOT NULL CHECK (action_id >= 1),
    action_type          TEXT    NOT NULL CHECK (action_type IN ('buy', 'sell', 'short', 'cover', 'stop',
        'target', 'liquidation', 'split', 'dividend', 'financing', 'delisting', 'no_trade')),
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
    order_id             TEXT,
    fee                  TEXT,
    slippage             TEXT,
    realised_pnl         TEXT,
    leverage             TEXT,
    stop                 TEXT,
    target               TEXT,
    -- New shares for one old share, of a split.
    ratio                TEXT,
    -- Calendar nights, of financing.
    nights               INTEGER,
    amount_real          REAL    GENERATED ALWAYS AS (CAST(amount AS REAL)) VIRTUAL,
    price_real           REAL    GENERATED ALWAYS AS (CAST(price AS REAL)) VIRTUAL,
    cash_real            REAL    GENERATED ALWAYS AS (CAST(cash AS REAL)) VIRTUAL,
    portfolio_value_real REAL    GENERATED ALWAYS AS (CAST(portfolio_value AS REAL)) VIRTUAL,
    daily_profit_real    REAL    GENERATED ALWAYS AS (CAST(daily_profit AS REAL)) VIRTUAL,
    UNIQUE (job_id, date, model, action_id)
) STRICT;
INSERT INTO positions_with_terms (id, job_id, date, model, action_id, action_type, symbol, amount, price, cash,
    portfolio_value, daily_profit, daily_return_pct, session_id, created_at, step_id, ord)
SELECT id, job_id, date, model, action_id, action_type, symbol, amount, price, cash, portfolio_value,
    daily_profit, daily_return_pct, session_id, created_at, step_id, ord FROM positions;
DROP TABLE positions;
ALTER TABLE positions_with_terms RENAME TO positions;
CREATE INDEX positions_by_session ON positions (session_id, symbol);

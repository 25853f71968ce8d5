-- What an account is recomputed from: financing is an action, and an action says its terms.
ALTER TABLE positions DROP CONSTRAINT positions_action_type_check;
ALTER TABLE positions ADD CONSTRAINT positions_action_type_check CHECK (action_type IN ('buy', 'sell',
    'short', 'cover', 'stop', 'target', 'liquidation', 'split', 'dividend', 'financing', 'delisting',
    'no_trade'));
ALTER TABLE positions ADD COLUMN order_id TEXT COLLATE "C";
ALTER TABLE positions ADD COLUMN fee NUMERIC;
ALTER TABLE positions ADD COLUMN slippage NUMERIC;
ALTER TABLE positions ADD COLUMN realised_pnl NUMERIC;
ALTER TABLE positions ADD COLUMN leverage NUMERIC;
ALTER TABLE positions ADD COLUMN stop NUMERIC;
ALTER TABLE positions ADD COLUMN target NUMERIC;
-- New shares for one old share, of a split.
ALTER TABLE positions ADD COLUMN ratio NUMERIC;
-- Calendar nights, of financing.
ALTER TABLE positions ADD COLUMN nights BIGINT;

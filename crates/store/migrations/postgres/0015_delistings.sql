-- A position may be closed by a delisting.
ALTER TABLE trade_reflections DROP CONSTRAINT trade_reflections_cause_check;
ALTER TABLE trade_reflections ADD CONSTRAINT trade_reflections_cause_check CHECK (cause IN ('sell', 'cover', 'stop',
    'target', 'liquidation', 'delisting'));

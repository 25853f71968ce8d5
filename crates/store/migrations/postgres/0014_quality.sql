-- Calls whose price nobody knows: what they cost is unknown, and never nothing.
ALTER TABLE trading_sessions ADD COLUMN unpriced_calls BIGINT NOT NULL DEFAULT 0;
ALTER TABLE trading_sessions ADD COLUMN detached_unpriced_calls BIGINT NOT NULL DEFAULT 0;

UPDATE trading_sessions SET
    unpriced_calls = (SELECT count(*) FROM steps s JOIN step_attempts a ON a.step_id = s.id
        WHERE s.session_id = trading_sessions.id AND s.detached = 0 AND a.cost_usd IS NULL
            AND coalesce(a.input_tokens, 0) + coalesce(a.output_tokens, 0) > 0),
    detached_unpriced_calls = (SELECT count(*) FROM steps s JOIN step_attempts a ON a.step_id = s.id
        WHERE s.session_id = trading_sessions.id AND s.detached = 1 AND a.cost_usd IS NULL
            AND coalesce(a.input_tokens, 0) + coalesce(a.output_tokens, 0) > 0)
WHERE input_tokens + output_tokens + detached_input_tokens + detached_output_tokens > 0;

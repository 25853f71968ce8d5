-- A step that was sent and has no row in `step_attempts` has one attempt: it began with the step, and its end and
-- usage are the step's. Earlier versions wrote a row for it. This view has every attempt.
CREATE VIEW attempts AS
SELECT step_id, attempt, sent_at, ended_at, error, input_tokens, cached_tokens, output_tokens, cost_usd
FROM step_attempts
UNION ALL
SELECT s.id, 1, s.started_at, CASE WHEN s.state = 'done' THEN s.ended_at END, NULL,
       CASE WHEN s.state = 'done' AND s.estimated_calls = 0 THEN s.input_tokens END,
       CASE WHEN s.state = 'done' AND s.estimated_calls = 0 THEN s.cached_tokens END,
       CASE WHEN s.state = 'done' AND s.estimated_calls = 0 THEN s.output_tokens END,
       CASE WHEN s.state = 'done' AND s.estimated_calls = 0 THEN s.cost_usd END
FROM steps s
WHERE s.class = 'external' AND s.reused_from IS NULL
  AND NOT EXISTS (SELECT 1 FROM step_attempts a WHERE a.step_id = s.id);

//! Checks data that is stored twice but hashed at most once: each copy against the other.

use super::Break;
use crate::db::Db;
use crate::error::Result;
use crate::rows::memory;
use crate::texts::{BODY, Body};
use crate::value::params;
use papertape_core::id::JobId;
use papertape_core::record::{DerivedRow, SessionId};
use papertape_core::tape::StepPath;

/// Rows of a session that contradict their session or step; `$1` is the session. Each statement counts them.
const OF_SESSION: &[(&str, &str, &str)] = &[
    (
        "steps",
        "SELECT count(*) FROM steps x JOIN trading_sessions s ON s.id = x.session_id
         WHERE s.id = $1 AND (x.state NOT IN ('intent', 'done', 'abandoned')
            OR (x.state = 'intent' AND (x.seq IS NOT NULL OR x.outcome_kind IS NOT NULL))
            OR (x.state = 'done' AND (x.seq IS NULL OR x.outcome_kind IS NULL OR x.outcome_ref IS NULL))
            OR (x.state = 'abandoned' AND (x.seq IS NULL OR x.outcome_kind IS NOT NULL)))",
        "a step's state differs from its outcome's",
    ),
    (
        "reasoning_log_rows",
        "SELECT count(*) FROM reasoning_log_rows x JOIN steps p ON p.id = x.step_id
         WHERE x.session_id = $1 AND p.session_id <> x.session_id",
        "a message's session differs from its step's",
    ),
    (
        "positions",
        "SELECT count(*) FROM positions x JOIN trading_sessions s ON s.id = x.session_id
         WHERE s.id = $1 AND (x.job_id <> s.job_id OR x.date <> s.date OR x.model <> s.model)",
        "a row's job, day or agent differs from its session's",
    ),
    (
        "trader_round_memory",
        "SELECT count(*) FROM trader_round_memory x JOIN trading_sessions s ON s.id = x.session_id
         WHERE s.id = $1 AND (x.job_id <> s.job_id OR x.model <> s.model)",
        "a memory's job or agent differs from its session's",
    ),
    (
        "open_position_contexts",
        "SELECT count(*) FROM open_position_contexts x JOIN trading_sessions s ON s.id = x.session_id
         WHERE s.id = $1 AND (x.job_id <> s.job_id OR x.model <> s.model)",
        "a memory's job or agent differs from its session's",
    ),
    (
        "trade_reflections",
        "SELECT count(*) FROM trade_reflections x JOIN trading_sessions s ON s.id = x.session_id
         WHERE s.id = $1 AND (x.job_id <> s.job_id OR x.model <> s.model)",
        "a memory's job or agent differs from its session's",
    ),
    (
        "trading_sessions",
        "SELECT count(*) FROM trading_sessions s WHERE s.id = $1
         AND (s.next_message <> (SELECT count(*) FROM reasoning_log_rows m WHERE m.session_id = s.id)
            OR (s.total_messages IS NOT NULL AND s.total_messages <> s.next_message)
            OR (s.close_seq IS NULL AND (s.completed_at IS NOT NULL OR s.status <> 'running'
                OR s.total_messages IS NOT NULL OR s.state_hash IS NOT NULL))
            OR (s.close_seq IS NOT NULL AND (s.completed_at IS NULL OR s.status = 'running'
                OR s.total_messages IS NULL OR s.state_hash IS NULL)))",
        "the session's counts or end differ from its rows",
    ),
];

/// As [`OF_SESSION`], for what is guaranteed since rules version 2.
const OF_SESSION_SINCE_2: &[(&str, &str, &str)] = &[
    (
        "trading_sessions",
        "SELECT count(*) FROM trading_sessions s WHERE s.id = $1 AND s.close_seq <> s.chain_length",
        "there are rows after the session's close",
    ),
    (
        "positions",
        "SELECT count(*) FROM positions x WHERE x.session_id = $1 AND (x.step_id IS NULL OR x.ord IS NULL)",
        "a row belongs to no step",
    ),
];

/// Rows of a job that are in none of its sessions or contradict them; `$1` is the job.
const OF_JOB: &[(&str, &str, &str)] = &[
    (
        "positions",
        "SELECT count(*) FROM positions x WHERE x.job_id = $1 AND (x.session_id IS NULL
            OR x.session_id NOT IN (SELECT s.id FROM trading_sessions s WHERE s.job_id = $1))",
        "a row belongs to no session",
    ),
    (
        "trader_round_memory",
        "SELECT count(*) FROM trader_round_memory x WHERE x.job_id = $1
            AND x.session_id NOT IN (SELECT s.id FROM trading_sessions s WHERE s.job_id = $1)",
        "a memory belongs to no session",
    ),
    (
        "trader_round_memory",
        "SELECT count(*) FROM trader_round_memory x WHERE x.job_id = $1 AND (x.pruned <> 0) <> EXISTS (
            SELECT 1 FROM trader_round_memory y WHERE y.job_id = x.job_id AND y.model = x.model
                AND y.prunes_through >= x.round_id)",
        "a round is not pruned by the rounds that prune",
    ),
    (
        "open_position_contexts",
        "SELECT count(*) FROM open_position_contexts x WHERE x.job_id = $1
            AND x.session_id NOT IN (SELECT s.id FROM trading_sessions s WHERE s.job_id = $1)",
        "a memory belongs to no session",
    ),
    (
        "trade_reflections",
        "SELECT count(*) FROM trade_reflections x WHERE x.job_id = $1
            AND x.session_id NOT IN (SELECT s.id FROM trading_sessions s WHERE s.job_id = $1)",
        "a memory belongs to no session",
    ),
    (
        "agent_states",
        "SELECT count(*) FROM agent_states x LEFT JOIN trading_sessions s
            ON s.job_id = x.job_id AND s.model = x.agent AND s.date = x.after_date
         WHERE x.job_id = $1 AND (s.state_hash IS NULL OR s.state_hash <> x.hash)",
        "a state differs from its session's",
    ),
    (
        "agent_states",
        "SELECT count(*) FROM trading_sessions s LEFT JOIN agent_states x
            ON s.job_id = x.job_id AND s.model = x.agent AND s.date = x.after_date
         WHERE s.job_id = $1 AND s.state_hash IS NOT NULL AND x.hash IS NULL",
        "a session's final state is missing",
    ),
];

/// As [`OF_JOB`], for what is guaranteed since rules version 2.
const OF_JOB_SINCE_2: &[(&str, &str, &str)] = &[(
    "job_details",
    "SELECT count(*) FROM job_details d WHERE d.job_id = $1 AND (
        (d.status = 'skipped') <> (d.skipped_job IS NOT NULL AND d.skipped_session IS NOT NULL)
        OR (EXISTS (SELECT 1 FROM jobs j WHERE j.job_id = d.skipped_job) AND NOT EXISTS (
            SELECT 1 FROM trading_sessions s WHERE s.id = d.skipped_session AND s.job_id = d.skipped_job
                AND s.date = d.date AND s.chain_head = d.skipped_head)))",
    "the session of a skipped day differs from the recorded one",
)];

/// Checks the duplicated data in a session's rows.
pub(super) async fn check_session(db: &mut dyn Db, id: SessionId, rules: u32) -> Result<Option<Break>> {
    let newer = if rules >= 2 { OF_SESSION_SINCE_2 } else { &[] };
    for (table, sql, why) in OF_SESSION.iter().chain(newer) {
        if count(db, sql, id.into()).await? > 0 {
            return Ok(Some(Break(None, vec![*table], (*why).to_owned())));
        }
    }
    // Parts of a step's path are duplicated in columns of their own, for searching.
    for (path, kind) in db
        .all::<(StepPath, String)>("SELECT path, kind FROM steps WHERE session_id = $1", params![id])
        .await?
    {
        if kind != path.kind() {
            return Ok(Some(Break(Some(path), vec!["steps"], "its kind does not match its path".to_owned())));
        }
    }
    Ok(None)
}

/// Checks the duplicated data in a job's rows; returns the table and a message.
pub(super) async fn check_job(
    db: &mut dyn Db,
    job: &JobId,
    rules: u32,
) -> Result<Option<(&'static str, &'static str)>> {
    let newer = if rules >= 2 { OF_JOB_SINCE_2 } else { &[] };
    for (table, sql, why) in OF_JOB.iter().chain(newer) {
        if count(db, sql, job.into()).await? > 0 {
            return Ok(Some((table, why)));
        }
    }
    Ok(None)
}

/// Checks the search text of a step's reflections; returns a message if it does not match them.
pub(super) async fn check_rows(db: &mut dyn Db, step: i64, rows: &[&DerivedRow]) -> Result<Option<String>> {
    let mut words = rows.iter().filter_map(|row| match row {
        DerivedRow::Reflection(row) => Some(memory::search_text(row)),
        _ => None,
    });
    let Some(first) = words.next() else { return Ok(None) };
    let expected: Vec<String> = std::iter::once(first).chain(words).collect();
    let sql = format!(
        "SELECT {BODY} FROM trade_reflections r JOIN texts t ON t.id = r.text_id
         WHERE r.step_id = $1 ORDER BY r.ord"
    );
    let found: Vec<String> =
        db.all::<Body>(&sql, params![step]).await?.into_iter().map(|Body(body)| body).collect();
    Ok((found != expected).then(|| "a reflection's search text differs from the reflection".to_owned()))
}

async fn count(db: &mut dyn Db, sql: &str, key: crate::value::Value) -> Result<u64> {
    Ok(db.first(sql, &[key]).await?.unwrap_or_default())
}

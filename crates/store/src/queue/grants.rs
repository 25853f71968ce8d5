//! A split job's budget: each part has a share, and the shares together are within the limit.

use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::read::UsageCost;
use crate::value::params;
use papertape_core::budget::{JobBudget, Limit};
use papertape_core::id::JobId;
use papertape_core::record::Lease;
use rust_decimal::Decimal;

/// A part takes a share of what is free that would allow all parts to do so this many times.
const SLICES: u32 = 2;

/// Tokens and US dollars.
type Amount = (u64, Decimal);

const fn columns(line: JobBudget) -> (&'static str, &'static str) {
    match line {
        JobBudget::Sessions => ("tokens", "usd"),
        JobBudget::Summaries => ("summary_tokens", "summary_usd"),
    }
}

/// Raises a part's share, if what the other parts have allows it. The caller has locked the job's row.
pub(super) async fn grant(
    db: &mut dyn Db,
    lease: &Lease,
    line: JobBudget,
    (need, limit): (Limit, Limit),
) -> Result<Limit> {
    let (tokens, usd) = columns(line);
    let sql = format!("SELECT part, lease_epoch, {tokens}, {usd} FROM job_parts WHERE job_id = $1");
    let (mut own, mut others, mut parts) = (None, Amount::default(), 0_u32);
    for (part, epoch, tokens, usd) in db.all::<(u32, i64, u64, Decimal)>(&sql, params![&lease.job]).await? {
        parts += 1;
        if part == lease.part {
            own = (epoch == lease.epoch).then_some((tokens, usd));
        } else {
            others = (others.0.saturating_add(tokens), others.1 + usd);
        }
    }
    let own = own.ok_or(StoreError::LostLease)?;
    let need = (need.tokens.unwrap_or_default().max(own.0), need.usd.unwrap_or_default().max(own.1));
    let left_tokens = limit.tokens.map(|limit| limit.checked_sub(others.0.saturating_add(need.0)));
    let left_usd = limit.usd.map(|limit| limit - others.1 - need.1);
    let share = if left_tokens == Some(None) || left_usd.is_some_and(|left| left < Decimal::ZERO) {
        own
    } else {
        let slices = parts.max(1) * SLICES;
        let more = left_tokens.flatten().unwrap_or_default() / u64::from(slices);
        let share = (need.0 + more, need.1 + left_usd.unwrap_or_default() / Decimal::from(slices));
        set(db, (&lease.job, lease.part), line, share).await?;
        share
    };
    Ok(Limit { tokens: limit.tokens.map(|_| share.0), usd: limit.usd.map(|_| share.1) })
}

/// Gives back what a part has not used of its shares.
pub(super) async fn give_back(db: &mut dyn Db, lease: &Lease) -> Result<()> {
    let sql =
        "SELECT tokens, usd, summary_tokens, summary_usd FROM job_parts WHERE job_id = $1 AND part = $2";
    let shares = db.first::<(u64, Decimal, u64, Decimal)>(sql, params![&lease.job, lease.part]).await?;
    if shares.is_none_or(|shares| shares == Default::default()) {
        return Ok(());
    }
    let sql = "SELECT s.input_tokens, s.cached_tokens, s.output_tokens, s.cost_usd, s.estimated_calls,
            s.unpriced_calls, s.detached_input_tokens, s.detached_cached_tokens, s.detached_output_tokens,
            s.detached_cost_usd, s.detached_estimated_calls, s.detached_unpriced_calls
        FROM trading_sessions s JOIN job_details d
            ON d.job_id = s.job_id AND d.date = s.date AND d.model = s.model
        WHERE s.job_id = $1 AND d.part = $2";
    let mut used = (UsageCost::default(), UsageCost::default());
    for (own, summaries) in db.all::<(UsageCost, UsageCost)>(sql, params![&lease.job, lease.part]).await? {
        used = (used.0.and(own), used.1.and(summaries));
    }
    for (line, used) in [(JobBudget::Sessions, used.0), (JobBudget::Summaries, used.1)] {
        let tokens = used.usage.input_tokens.saturating_add(used.usage.output_tokens);
        set(db, (&lease.job, lease.part), line, (tokens, used.cost_usd)).await?;
    }
    Ok(())
}

async fn set(db: &mut dyn Db, (job, part): (&JobId, u32), line: JobBudget, share: Amount) -> Result<()> {
    let (tokens, usd) = columns(line);
    let sql = format!("UPDATE job_parts SET {tokens} = $1, {usd} = $2 WHERE job_id = $3 AND part = $4");
    db.execute(&sql, params![share.0, share.1, job, part]).await.map(drop)
}

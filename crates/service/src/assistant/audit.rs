//! An audit as the assistant reports it.

use super::toolbox::ToolArgs;
use papertape_protocol::audit::{AuditFinding, AuditResponse, AuditSummary, AuditedSession, NewestRead};
use papertape_protocol::fields::MAX_INT64;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Findings and reasons in a result.
const MAX_FINDINGS: usize = 20;

/// The result of an audit: a sentence, the numbers behind it, and the first findings.
pub(super) fn result(audited: &AuditResponse, args: &ToolArgs<'_>) -> Value {
    let AuditSummary { verified, failed, unverifiable, unfinished } = audited.summary;
    let sessions = &audited.sessions;
    let reads = sessions.iter().map(|session| session.reads).sum::<u64>().min(MAX_INT64);
    let facts = |session: &AuditedSession| {
        [session.newest_at_open.clone(), session.newest_at_close.clone()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
    };
    let newest: Option<NewestRead> = sessions.iter().flat_map(facts).max_by_key(|read| read.known_at);
    let mut message = args.localized(
        format!(
            "{verified} session(s) verified, {failed} with findings, {unverifiable} unverifiable, {unfinished} not \
             ended; {reads} market read(s)"
        ),
        format!(
            "{verified} 个会话通过审计，{failed} 个发现问题，{unverifiable} 个无法审计，{unfinished} 个未结束；\
             读取行情 {reads} 次"
        ),
    );
    if let Some(newest) = &newest {
        let (known_at, series) = (newest.known_at, &newest.series);
        message += &args.localized(
            format!(", the newest known at {known_at} ({series})"),
            format!("，最晚可知于 {known_at}（{series}）"),
        );
    }
    let found = sessions.iter().flat_map(|session| session.findings.iter().map(move |one| (session, one)));
    let findings: Vec<Value> = found.take(MAX_FINDINGS).map(|(session, one)| finding(session, one)).collect();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in sessions.iter().filter_map(|session| session.reason.as_ref()) {
        *reasons.entry(&reason.message).or_default() += 1;
    }
    let reasons: Vec<Value> = (reasons.into_iter().take(MAX_FINDINGS))
        .map(|(reason, sessions)| json!({ "reason": reason, "sessions": sessions }))
        .collect();
    json!({
        "message": message, "job_id": audited.job_id, "recorded_under_rules": audited.rules_version,
        "sessions": audited.summary, "market_reads": reads, "newest_read": newest, "findings": findings,
        "unverifiable": reasons,
    })
}

fn finding(session: &AuditedSession, finding: &AuditFinding) -> Value {
    let items: Vec<String> = finding.items.iter().map(|item| item.describe()).collect();
    json!({
        "model": session.model, "date": session.date, "kind": finding.kind, "phase": finding.phase,
        "path": finding.path, "data": finding.variants, "message": finding.message, "from_later": items,
    })
}

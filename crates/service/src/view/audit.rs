//! The audit of a job.

use super::results::reason_of_mark;
use super::{Configs, deployment, job_id, no_job, rows};
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::RULES_VERSION;
use papertape_core::id::{AgentName, JobId};
use papertape_core::ports::Queue as _;
use papertape_core::record::JobKind;
use papertape_core::time::parse_date;
use papertape_protocol::audit::{
    AuditFinding, AuditFindingKind, AuditItem, AuditPhase, AuditQuery, AuditResponse, AuditSummary,
    AuditVariant, AuditVerdict, AuditedSession, NewestRead, UnverifiableKind, UnverifiableReason,
};
use papertape_runtime::audit::report::{
    Finding, FindingKind, Item, NewestRead as ReadFact, Phase, Reason, SessionAudit, Variant, Verdict,
};
use papertape_runtime::audit::{Audit, SessionFilter, SessionKey};
use std::sync::Mutex;

/// Sessions of a page: the default and the maximum.
const SESSIONS: u32 = 50;
const MAX_SESSIONS: u32 = 200;

/// Receives the number of sessions audited so far, and of all.
pub type AuditProgress<'a> = &'a (dyn Fn(usize, usize) + Send + Sync);

/// Audits a page of a job's sessions.
///
/// # Errors
/// An unknown job, one without sessions, an invalid query, or a database error.
pub async fn audit(app: &App, job: &str, query: &AuditQuery) -> Result<AuditResponse, ServiceError> {
    let limit = rows(query.limit, SESSIONS, MAX_SESSIONS)? as usize;
    run(app, job, query, limit, &|_, _| {}).await
}

/// Audits all of a job's sessions that a query includes, regardless of its limit.
///
/// # Errors
/// See [`audit`].
pub async fn audit_all(
    app: &App,
    job: &str,
    query: &AuditQuery,
    progress: AuditProgress<'_>,
) -> Result<AuditResponse, ServiceError> {
    run(app, job, query, usize::MAX, progress).await
}

async fn run(
    app: &App,
    job: &str,
    query: &AuditQuery,
    limit: usize,
    progress: AuditProgress<'_>,
) -> Result<AuditResponse, ServiceError> {
    let id = job_id(job)?;
    let row = app.store.get_job(&id).await?.ok_or_else(|| no_job(job))?;
    if row.kind.is_assistant() || row.kind == JobKind::MemoryProbe {
        let message = format!("a job of kind `{}` has no sessions to audit", row.kind);
        return Err(ServiceError::Conflict(message));
    }
    let filter = filter(query)?;
    let after = query.cursor.as_deref().map(read_cursor).transpose()?;
    let failed = |message: String| ServiceError::Internal(anyhow::anyhow!(message));
    let mut audit = Audit::open(&app.services, &row).await.map_err(failed)?;
    let all = audit.sessions(&filter);
    let first = after.map_or(0, |after| all.partition_point(|key| *key <= after));
    let page = &all[first..all.len().min(first.saturating_add(limit))];
    let audited = Mutex::new(Vec::with_capacity(page.len()));
    let each = |session: SessionAudit| {
        let mut audited = audited.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        audited.push(session);
        progress(audited.len(), page.len());
    };
    Box::pin(audit.run(page, each)).await.map_err(failed)?;
    let audited = audited.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut configs = Configs::default();
    let (mut summary, mut sessions) = (AuditSummary::default(), Vec::with_capacity(audited.len()));
    for one in audited {
        let session = session(app, &mut configs, &id, one).await?;
        summary.add(session.verdict);
        sessions.push(session);
    }
    let last = page.last().filter(|_| first + page.len() < all.len());
    Ok(AuditResponse {
        job_id: id.to_string(),
        rules_version: row.rules_version,
        dataset: audit.dataset().to_hex(),
        summary,
        count: sessions.len(),
        sessions,
        total: all.len(),
        next_cursor: last.map(write_cursor),
        deployment: deployment(app),
    })
}

fn filter(query: &AuditQuery) -> Result<SessionFilter, ServiceError> {
    if query.date.is_some() && (query.from.is_some() || query.to.is_some()) {
        return Err(ServiceError::invalid("date", "it cannot be combined with from and to"));
    }
    if let (Some(from), Some(to)) = (query.from, query.to)
        && to < from
    {
        return Err(ServiceError::invalid("to", format!("{to} is before {from}")));
    }
    Ok(SessionFilter {
        agent: query.model.as_deref().map(AgentName::new),
        from: query.date.or(query.from),
        to: query.date.or(query.to),
    })
}

/// A cursor is the day and the agent of the last session of its page; names can hold any character, so in hex.
fn write_cursor(key: &SessionKey) -> String {
    let agent: String = key.agent.as_str().bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("{}.{agent}", key.date)
}

fn read_cursor(cursor: &str) -> Result<SessionKey, ServiceError> {
    let agent = |hex: &str| -> Option<String> {
        let digits: Option<Vec<u8>> =
            hex.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
        let bytes =
            digits?.chunks(2).map(|pair| Some(pair[0] * 16 + pair.get(1)?)).collect::<Option<Vec<u8>>>();
        String::from_utf8(bytes?).ok()
    };
    let key = cursor.split_once('.').and_then(|(date, name)| {
        Some(SessionKey { date: parse_date(date).ok()?, agent: AgentName::new(agent(name)?) })
    });
    key.ok_or_else(|| ServiceError::invalid("cursor", "invalid cursor"))
}

async fn session(
    app: &App,
    configs: &mut Configs,
    job: &JobId,
    audit: SessionAudit,
) -> Result<AuditedSession, ServiceError> {
    let (verdict, reason) = match audit.verdict {
        Verdict::Verified => (AuditVerdict::Verified, None),
        Verdict::Failed => (AuditVerdict::Failed, None),
        Verdict::Unfinished => (AuditVerdict::Unfinished, None),
        Verdict::Unverifiable(reason) => {
            let reason = match reason {
                Reason::PointInTime(mark) => {
                    let reason = reason_of_mark(app, configs, (job, &audit.agent), mark).await?;
                    UnverifiableReason {
                        kind: UnverifiableKind::PointInTime,
                        message: reason.sentence(),
                        point_in_time_reason: Some(reason),
                    }
                }
                other => plain_reason(&other),
            };
            (AuditVerdict::Unverifiable, Some(reason))
        }
    };
    Ok(AuditedSession {
        date: audit.date,
        model: audit.agent.to_string(),
        session_id: audit.session.map(|session| session.0),
        verdict,
        reason,
        steps: audit.steps,
        reads: audit.reads.count,
        rows: audit.reads.rows,
        newest_at_open: audit.reads.at_open.map(newest),
        newest_at_close: audit.reads.at_close.map(newest),
        findings: audit.findings.into_iter().map(finding).collect(),
    })
}

fn plain_reason(reason: &Reason) -> UnverifiableReason {
    let (kind, message) = match reason {
        Reason::PointInTime(mark) => {
            (UnverifiableKind::PointInTime, format!("it goes back to an unverified session of {}", mark.date))
        }
        Reason::RulesVersion(version) => (
            UnverifiableKind::RulesVersion,
            format!("recorded under rules {version}; this program runs rules {RULES_VERSION}"),
        ),
        Reason::Dataset(error) => {
            (UnverifiableKind::Dataset, format!("the dataset is not available: {error}"))
        }
        Reason::Record(error) => (UnverifiableKind::Record, format!("the record cannot be read: {error}")),
    };
    UnverifiableReason { kind, message, point_in_time_reason: None }
}

fn newest(read: ReadFact) -> NewestRead {
    NewestRead { path: read.path.to_string(), series: read.series, date: read.date, known_at: read.known_at }
}

fn finding(finding: Finding) -> AuditFinding {
    AuditFinding {
        kind: match finding.kind {
            FindingKind::LookAhead => AuditFindingKind::LookAhead,
            FindingKind::LateRead => AuditFindingKind::LateRead,
            FindingKind::LateMemory => AuditFindingKind::LateMemory,
            FindingKind::NotReproducible => AuditFindingKind::NotReproducible,
        },
        variants: finding.variants.into_iter().map(variant).collect(),
        phase: finding.phase.map(phase),
        path: finding.path.map(|path| path.to_string()),
        part: finding.part.map(str::to_owned),
        pointer: finding.pointer,
        recorded: finding.recorded,
        recomputed: finding.recomputed,
        items: finding.items.into_iter().map(item).collect(),
        message: finding.message,
    }
}

fn variant(variant: Variant) -> AuditVariant {
    match variant {
        Variant::Cut => AuditVariant::Cut,
        Variant::Poisoned => AuditVariant::Poisoned,
    }
}

fn phase(phase: Phase) -> AuditPhase {
    match phase {
        Phase::Pre => AuditPhase::Pre,
        Phase::Session => AuditPhase::Session,
        Phase::Bar => AuditPhase::Bar,
        Phase::Close => AuditPhase::Close,
        Phase::Post => AuditPhase::Post,
    }
}

fn item(item: Item) -> AuditItem {
    let (kind, name, date, job_id, known_at) = match item {
        Item::Market { series, date, known_at } => ("market", series, date, None, known_at),
        Item::Listing { symbol, known_at } => ("listing", Some(symbol), None, None, known_at),
        Item::Memory { kind, id, job, known_at } => {
            (kind.as_str(), Some(id), None, job.map(|job| job.to_string()), known_at)
        }
    };
    AuditItem { kind: kind.to_owned(), name, date, job_id, known_at }
}

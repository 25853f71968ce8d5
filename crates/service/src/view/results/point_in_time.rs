//! Why a day is not verified as point-in-time.

use super::super::Configs;
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::id::{AgentName, JobId};
use papertape_core::point_in_time::{Unverified, UnverifiedKind};
use papertape_core::ports::RecordStore as _;
use papertape_core::time::Date;
use papertape_protocol::results::point_in_time::PointInTimeReason;
use serde_json::Value;

/// As in metadata.
const UNVERIFIED: &str = "unverified";

/// Why a session is unverified; `None` if it is verified, or has not ended.
pub(in crate::view) async fn reason(
    app: &App,
    configs: &mut Configs,
    (job, agent, date): (&JobId, &AgentName, Date),
    metadata: Option<&Value>,
) -> Result<Option<PointInTimeReason>, ServiceError> {
    let Some(metadata) = metadata.filter(|metadata| metadata["point_in_time"] == UNVERIFIED) else {
        return Ok(None);
    };
    let mark = Unverified::from_session(metadata, date);
    reason_of_mark(app, configs, (job, agent), mark).await.map(Some)
}

/// A mark with the session that it originates from.
///
/// # Errors
/// A database error.
pub(in crate::view) async fn reason_of_mark(
    app: &App,
    configs: &mut Configs,
    (job, agent): (&JobId, &AgentName),
    mark: Unverified,
) -> Result<PointInTimeReason, ServiceError> {
    let config = configs.of(app, job).await?;
    let parent = config.and_then(|config| config.branch.as_ref()).map(|branch| branch.job.clone());
    let parent = parent.filter(|_| mark.kind == UnverifiedKind::Branch);
    let origin = mark.job.or(parent).unwrap_or_else(|| job.clone());
    let session = app.store.find_session(&origin, agent, mark.date).await?;
    Ok(PointInTimeReason {
        kind: mark.kind,
        job: origin.to_string(),
        session: session.map(|session| session.id.0),
        date: mark.date,
    })
}

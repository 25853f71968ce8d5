//! Why a day is not known to have seen nothing of its future.

use super::super::{Configs, ViewError};
use crate::app::App;
use papertape_core::id::{AgentName, JobId};
use papertape_core::point_in_time::{Unverified, UnverifiedKind};
use papertape_core::ports::RecordStore as _;
use papertape_core::time::Date;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// As metadata spell it.
const UNVERIFIED: &str = "unverified";

/// Why a day is `unverified`: how the mark came, and the session that it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PointInTimeReason {
    /// `external_tools`: the agent could use tools that are not bounded in time; `import`: the day was traded
    /// elsewhere; `memory`: it read what an unverified session wrote; `continuation`: its account goes on from
    /// an unverified session of another job; `branch`: from one that the job it branched from had.
    #[schema(schema_with = super::super::vocabulary::unverified_kind)]
    pub kind: UnverifiedKind,
    /// The job of the session that the mark comes from, however many jobs lie between: one that used the tools
    /// or was imported.
    pub job: String,
    /// That session; `null` where it is not in the record any more.
    pub session: Option<i64>,
    /// Its trading day.
    pub date: Date,
}

impl PointInTimeReason {
    /// In words.
    #[must_use]
    pub fn sentence(&self) -> String {
        let origin = match self.session {
            Some(session) => format!("session {session} ({}) of job {}", self.date, self.job),
            None => format!("the session of {} in job {}", self.date, self.job),
        };
        match self.kind {
            UnverifiedKind::ExternalTools => format!("external tools in {origin}"),
            UnverifiedKind::Import => format!("imported: {origin}"),
            UnverifiedKind::Memory => format!("it read a memory that goes back to {origin}"),
            UnverifiedKind::Continuation => format!("its account continues {origin}"),
            UnverifiedKind::Branch => format!("it branched off after {origin}"),
        }
    }
}

/// Why a session is unverified; `None` where it is verified, or has not ended.
pub(super) async fn reason(
    app: &App,
    configs: &mut Configs,
    (job, agent, date): (&JobId, &AgentName, Date),
    metadata: Option<&Value>,
) -> Result<Option<PointInTimeReason>, ViewError> {
    let Some(metadata) = metadata.filter(|metadata| metadata["point_in_time"] == UNVERIFIED) else {
        return Ok(None);
    };
    let config = configs.of(app, job).await?;
    let mark = Unverified::of_session(metadata, date);
    let parent = config.and_then(|config| config.branch.as_ref()).map(|branch| branch.job.clone());
    let parent = parent.filter(|_| mark.kind == UnverifiedKind::Branch);
    let origin = mark.job.or(parent).unwrap_or_else(|| job.clone());
    let session = app.store.find_session(&origin, agent, mark.date).await.map_err(anyhow::Error::from)?;
    Ok(Some(PointInTimeReason {
        kind: mark.kind,
        job: origin.to_string(),
        session: session.map(|session| session.id.0),
        date: mark.date,
    }))
}

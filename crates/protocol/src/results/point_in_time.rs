//! Why a day is not known to be point-in-time.

use papertape_core::point_in_time::UnverifiedKind;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a day is `unverified`: the cause, and the session that it originates from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PointInTimeReason {
    /// `external_tools`: the agent could use tools that are not bounded in time; `import`: the day was
    /// imported; `memory`: it read what an unverified session wrote; `continuation`: its account continues
    /// an unverified session of another job; `branch`: from one that the job it branched from had.
    #[schema(schema_with = crate::vocabulary::unverified_kind)]
    pub kind: UnverifiedKind,
    /// The job of the originating session, across any number of jobs: one that used the tools
    /// or was imported.
    pub job: String,
    /// That session; `null` if it was deleted.
    pub session: Option<i64>,
    /// Its trading day.
    pub date: Date,
}

impl PointInTimeReason {
    /// As a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let origin = match self.session {
            Some(session) => format!("session {session} ({}) of job {}", self.date, self.job),
            None => format!("the session of {} in job {}", self.date, self.job),
        };
        match self.kind {
            UnverifiedKind::ExternalTools => format!("external tools in {origin}"),
            UnverifiedKind::External => format!("an external agent in {origin}"),
            UnverifiedKind::Import => format!("imported: {origin}"),
            UnverifiedKind::Memory => format!("it read a memory that goes back to {origin}"),
            UnverifiedKind::Continuation => format!("its account continues {origin}"),
            UnverifiedKind::Branch => format!("it branched off after {origin}"),
        }
    }
}

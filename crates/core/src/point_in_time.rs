//! Whether a session may have seen data from its future, and how that mark spreads.
//!
//! A session is `verified` when the agent saw only market views and everything it started from was made by
//! verified sessions. One that could see more (through an external tool, or because it was imported) is
//! `unverified`, and so is every session that continues its account or reads its memory, across any number of
//! jobs: the mark travels in the stored state.

use crate::id::JobId;
use crate::time::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a session got the mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnverifiedKind {
    /// The agent could use tools whose data is not bounded in time.
    ExternalTools,
    /// The agent is a program of its own, which may know or read anything.
    External,
    /// The day was traded elsewhere and imported.
    Import,
    /// It read a memory that an unverified session wrote.
    Memory,
    /// It continues the account of an unverified session of another job: a continued run, or days skipped
    /// because they were done there.
    Continuation,
    /// It continues the account of an unverified session that its job shares with the job it branched from.
    Branch,
}

crate::words!(UnverifiedKind {
    ExternalTools = "external_tools", External = "external", Import = "import", Memory = "memory",
    Continuation = "continuation", Branch = "branch",
});

/// The mark: its kind, and the session where it originated.
///
/// The originating session is the one that could itself see its future, however many jobs lie between. It is
/// identified by its day, since the agent carries the mark: IDs are not part of a session, and equal runs
/// have equal states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unverified {
    /// How the mark was passed on.
    pub kind: UnverifiedKind,
    /// The originating session's job; absent: the job that the document belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// The originating session's trading day.
    pub date: Date,
}

impl Unverified {
    /// The mark of a session that could itself see more than the market view.
    #[must_use]
    pub const fn own(kind: UnverifiedKind, date: Date) -> Self {
        Self { kind, job: None, date }
    }

    /// The mark of an unverified session: the one in its metadata or, under rules version 1, its own.
    #[must_use]
    pub fn from_session(metadata: &Value, date: Date) -> Self {
        let named = metadata.get("point_in_time_reason").cloned();
        named.and_then(|reason| serde_json::from_value(reason).ok()).unwrap_or_else(|| {
            let is_imported = metadata.get("recorded").is_some_and(|recorded| !recorded.is_null());
            let kind = if is_imported { UnverifiedKind::Import } else { UnverifiedKind::ExternalTools };
            Self::own(kind, date)
        })
    }

    /// The mark for a session that got it with its account. Within one job, only a branch can have verified
    /// days after unverified ones.
    #[must_use]
    pub fn through_account(self) -> Self {
        let kind = if self.job.is_none() { UnverifiedKind::Branch } else { self.kind };
        Self { kind, ..self }
    }

    /// The mark for a session that got it by reading a memory.
    #[must_use]
    pub fn through_memory(self) -> Self {
        Self { kind: UnverifiedKind::Memory, ..self }
    }

    /// The mark for an account that another job continues: a missing job is set to `job`.
    #[must_use]
    pub fn continued(mut self, job: &JobId) -> Self {
        self.job.get_or_insert_with(|| job.clone());
        Self { kind: UnverifiedKind::Continuation, ..self }
    }

    /// The mark for a memory in another job.
    #[must_use]
    pub fn of_job(mut self, job: &JobId) -> Self {
        self.job.get_or_insert_with(|| job.clone());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: over a chain of jobs the mark names the session that could see more, and how it reached the
    /// current job.
    #[test]
    fn the_mark_names_its_origin_over_a_chain() {
        let (first, second) = (JobId::new("first"), JobId::new("second"));
        let own = Unverified::own(UnverifiedKind::ExternalTools, jiff::civil::date(2012, 10, 1));
        let continued = own.clone().continued(&first);
        assert_eq!((continued.kind, continued.job.as_ref()), (UnverifiedKind::Continuation, Some(&first)));
        let again = continued.through_account().continued(&second);
        assert_eq!((again.kind, again.job.as_ref()), (UnverifiedKind::Continuation, Some(&first)));
        let read = own.clone().of_job(&second).through_memory();
        assert_eq!((read.kind, read.job.as_ref()), (UnverifiedKind::Memory, Some(&second)));
        assert_eq!(
            read.clone().through_account().kind,
            UnverifiedKind::Memory,
            "the account it led to has it too"
        );
        assert_eq!(own.through_account().kind, UnverifiedKind::Branch);
        for kind in [UnverifiedKind::ExternalTools, UnverifiedKind::Branch, UnverifiedKind::Continuation] {
            assert_eq!(serde_json::to_value(kind).expect("a word"), kind.as_str());
        }
    }
}

//! Why a session is not known to have seen nothing of its future, and how that mark is passed on.
//!
//! A session is `verified` where the agent saw nothing but market views, and everything that it began with
//! was made by verified sessions. One that could see more (an external tool, a life elsewhere) is
//! `unverified`, and so is every session that goes on from its account or reads its memory, over any number
//! of jobs: the mark travels in the stored state.

use crate::id::JobId;
use crate::time::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How the mark came upon a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnverifiedKind {
    /// The agent could use tools that are not bounded in time.
    ExternalTools,
    /// The day was traded elsewhere and imported.
    Import,
    /// It read a memory that an unverified session wrote.
    Memory,
    /// Its account goes on from an unverified session of another job: a run that continues, or days that
    /// were done there and skipped.
    Continuation,
    /// Its account goes on from an unverified session that its job shares with the job it branched from.
    Branch,
}

impl UnverifiedKind {
    /// As documents spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExternalTools => "external_tools",
            Self::Import => "import",
            Self::Memory => "memory",
            Self::Continuation => "continuation",
            Self::Branch => "branch",
        }
    }
}

/// The mark: how it came, and the session that it comes from.
///
/// The session is one that could itself see its future, however many jobs lie between. It is named by its
/// day, for the agent is the one that carries the mark: ids are no part of a session, and equal runs have
/// equal states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unverified {
    /// How it came.
    pub kind: UnverifiedKind,
    /// The session's job; absent: the job that the document belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// The session's trading day.
    pub date: Date,
}

impl Unverified {
    /// Of a session that could itself see more than the market view.
    #[must_use]
    pub const fn own(kind: UnverifiedKind, date: Date) -> Self {
        Self { kind, job: None, date }
    }

    /// The mark of an unverified session: the one that its metadata name, else, of rules version 1, its own.
    #[must_use]
    pub fn of_session(metadata: &Value, date: Date) -> Self {
        let named = metadata.get("point_in_time_reason").cloned();
        named.and_then(|reason| serde_json::from_value(reason).ok()).unwrap_or_else(|| {
            let is_imported = metadata.get("recorded").is_some_and(|recorded| !recorded.is_null());
            let kind = if is_imported { UnverifiedKind::Import } else { UnverifiedKind::ExternalTools };
            Self::own(kind, date)
        })
    }

    /// As a session carries it that got it with its account. Within one job only a branch has days that could
    /// see more before days that could not.
    #[must_use]
    pub fn of_account(self) -> Self {
        let kind = if self.job.is_none() { UnverifiedKind::Branch } else { self.kind };
        Self { kind, ..self }
    }

    /// As a session carries it that read a memory with it.
    #[must_use]
    pub fn of_memory(self) -> Self {
        Self { kind: UnverifiedKind::Memory, ..self }
    }

    /// As an account carries it that another job continues: what has no job yet is that job's.
    #[must_use]
    pub fn continued(mut self, job: &JobId) -> Self {
        self.job.get_or_insert_with(|| job.clone());
        Self { kind: UnverifiedKind::Continuation, ..self }
    }

    /// As a memory carries it in another job.
    #[must_use]
    pub fn of_job(mut self, job: &JobId) -> Self {
        self.job.get_or_insert_with(|| job.clone());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: over a chain of jobs the mark names the session that could see more, and the way by which it
    /// came into the job at hand.
    #[test]
    fn the_mark_names_its_origin_over_a_chain() {
        let (first, second) = (JobId::new("first"), JobId::new("second"));
        let own = Unverified::own(UnverifiedKind::ExternalTools, jiff::civil::date(2012, 10, 1));
        let continued = own.clone().continued(&first);
        assert_eq!((continued.kind, continued.job.as_ref()), (UnverifiedKind::Continuation, Some(&first)));
        let again = continued.of_account().continued(&second);
        assert_eq!((again.kind, again.job.as_ref()), (UnverifiedKind::Continuation, Some(&first)));
        let read = own.clone().of_job(&second).of_memory();
        assert_eq!((read.kind, read.job.as_ref()), (UnverifiedKind::Memory, Some(&second)));
        assert_eq!(
            read.clone().of_account().kind,
            UnverifiedKind::Memory,
            "the account it led to has it too"
        );
        assert_eq!(own.of_account().kind, UnverifiedKind::Branch);
        for kind in [UnverifiedKind::ExternalTools, UnverifiedKind::Branch, UnverifiedKind::Continuation] {
            assert_eq!(serde_json::to_value(kind).expect("a word"), kind.as_str());
        }
    }
}

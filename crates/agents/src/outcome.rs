//! How an agent's session ended, whatever its kind.

use crate::config::{AgentConfig, AgentKind};
use crate::desk::DeskResult;
use crate::external::ExternalDay;
use crate::imported::ImportedOutcome;
use crate::memory::TraderOutcome;
use crate::solo::Conversation;
use papertape_core::json::to_value;
use papertape_core::point_in_time::{Unverified, UnverifiedKind};
use papertape_core::provenance::{DataQuality, Provenance};
use papertape_core::time::Date;
use serde_json::{Map, Value};

/// The outcome of an agent's session.
pub(crate) enum SessionOutcome<'a> {
    /// A conversation, with the agent as configured for it.
    Solo(&'a AgentConfig, Conversation),
    /// An imported day.
    Recorded(&'a AgentConfig, ImportedOutcome),
    /// A desk's day.
    Desk(DeskResult),
    /// An external agent's day, with the agent as configured for it.
    External(&'a AgentConfig, ExternalDay),
}

impl SessionOutcome<'_> {
    pub(crate) fn has_reply(&self) -> bool {
        match self {
            Self::Solo(_, conversation) => conversation.has_reply(),
            Self::Recorded(_, outcome) => outcome.has_answered(),
            Self::Desk(day) => day.has_reply(),
            Self::External(_, day) => day.has_reply(),
        }
    }

    /// How it ended, for the trader's memory.
    pub(crate) fn trader_outcome(&self) -> TraderOutcome {
        match self {
            Self::Solo(_, conversation) => conversation.trader_outcome(),
            Self::Recorded(_, outcome) => outcome.trader_outcome(),
            Self::Desk(day) => day.trader_outcome(),
            Self::External(_, day) => day.trader_outcome(),
        }
    }

    /// Why the session could see more than the market view, if it could.
    pub(crate) fn unbounded(&self) -> Option<UnverifiedKind> {
        match self {
            // The data that an imported agent has read is unknown.
            Self::Recorded(..) => Some(UnverifiedKind::Import),
            Self::Solo(agent, _) | Self::External(agent, _) => unbounded(agent),
            Self::Desk(_) => None,
        }
    }

    /// The mark of the memory in its prompt.
    pub(crate) fn unverified_memory(&self) -> Option<&Unverified> {
        match self {
            Self::Solo(_, conversation) => conversation.unverified_memory.as_ref(),
            Self::Recorded(..) | Self::External(..) => None,
            Self::Desk(day) => day.unverified_memory(),
        }
    }

    /// The outcomes of its own orders that it has not read yet.
    pub(crate) fn notices(&self) -> &[String] {
        match self {
            Self::Solo(..) | Self::Recorded(..) | Self::External(..) => &[],
            Self::Desk(day) => day.notices(),
        }
    }
}

/// Why sessions of this agent can see more than the market view; `None`: they cannot.
#[must_use]
pub fn unbounded(agent: &AgentConfig) -> Option<UnverifiedKind> {
    match agent.kind {
        AgentKind::Solo if agent.model.is_recorded() => Some(UnverifiedKind::Import),
        AgentKind::Solo if !agent.tools.is_empty() => Some(UnverifiedKind::ExternalTools),
        AgentKind::External => Some(UnverifiedKind::External),
        AgentKind::Solo | AgentKind::Desk => None,
    }
}

/// The session's mark: its own, else that of the account, else that of the memory in its prompt.
pub(crate) fn session_mark(
    session: &SessionOutcome<'_>,
    account: Option<Unverified>,
    date: Date,
) -> Option<Unverified> {
    let own = session.unbounded().map(|kind| Unverified::own(kind, date));
    own.or_else(|| account.map(Unverified::through_account))
        .or_else(|| session.unverified_memory().cloned().map(Unverified::through_memory))
}

/// A conversation's part of the session's metadata.
pub(crate) fn solo_metadata(conversation: &Conversation) -> Map<String, Value> {
    let mut metadata = quality_metadata(conversation.data_quality());
    metadata.insert("conversation".to_owned(), to_value(conversation));
    metadata
}

/// An external agent's part of the session's metadata.
pub(crate) fn external_metadata(day: &ExternalDay) -> Map<String, Value> {
    let mut metadata = quality_metadata(day.data_quality());
    metadata.insert("external".to_owned(), to_value(day));
    metadata
}

fn quality_metadata(data_quality: DataQuality) -> Map<String, Value> {
    let provenance = Provenance { data_quality, ..Provenance::default() };
    Map::from_iter([
        ("sample_quality".to_owned(), to_value(&provenance.sample_quality())),
        ("data_quality".to_owned(), to_value(&provenance.data_quality)),
    ])
}

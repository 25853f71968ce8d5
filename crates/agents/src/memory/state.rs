//! The memory that outlives a day. It is part of the start state, so that a resumed, replayed, branched or
//! continuing job remembers the same; it references long texts by their hash.

use super::content_ref::ContentRef;
use super::lessons::Archive;
use super::origin::{Origin, RecalledFrom};
use super::trades::OpenPosition;
use crate::config::MAX_WINDOW;
use papertape_core::id::JobId;
use papertape_core::point_in_time::Unverified;
use papertape_core::prepared::PreparedText;
use papertape_core::record::{MemoryKind, RecalledMemoryRow, RoundMemoryRow};
use papertape_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where a memory's JSON has the texts of [`Memory::archive_blocks`].
pub(crate) const ARCHIVE_BLOCKS: [&str; 2] = ["archive", "sealed"];

/// The trader's memory, as far as later days can need it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// The latest rounds, oldest first; at most the maximum window.
    pub(super) rounds: Vec<ContentRef<RecalledFrom<RoundMemoryRow>>>,
    /// How many rounds there have been.
    pub(super) round_id: u64,
    /// The open positions, by their IDs.
    pub(super) open: BTreeMap<String, OpenPosition>,
    /// The lessons of closed trades.
    pub(super) archive: Archive,
    /// How many closings have been reflected on.
    pub(super) trade_id: u64,
    /// Whether a trade was closed at a loss since the trader last answered.
    pub(super) after_loss: bool,
}

impl Memory {
    /// Whether nothing is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The rounds that are still available, oldest first.
    pub fn rounds(&self) -> impl DoubleEndedIterator<Item = &RoundMemoryRow> {
        self.rounds.iter().map(|round| &round.row)
    }

    /// The open positions, by their IDs.
    #[must_use]
    pub fn open(&self) -> &BTreeMap<String, OpenPosition> {
        &self.open
    }

    /// The lessons of closed trades.
    #[must_use]
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// The texts of the archive's sealed blocks, in the order of [`ARCHIVE_BLOCKS`].
    pub(crate) fn archive_blocks(&self) -> Vec<&PreparedText> {
        self.archive.sealed_texts().collect()
    }

    /// The mark of a memory that an unverified session wrote; `None` when there is none.
    #[must_use]
    pub fn unverified(&self) -> Option<&Unverified> {
        let rounds = self.rounds.iter().map(|round| &round.origin);
        let open = self.open.values().map(|open| &open.origin);
        let lessons = self.archive.iter().map(|lesson| &lesson.origin);
        rounds.chain(open).chain(lessons).find_map(|origin| origin.unverified.as_ref())
    }

    /// The memory after another job takes it over: a missing job is set to `job`. `unmarked`: the mark of
    /// that job's sessions, for memories without an origin.
    #[must_use]
    pub fn of_job(mut self, job: &JobId, unmarked: Option<&Unverified>) -> Self {
        let rounds = self.rounds.iter_mut().map(|round| &mut round.get_mut().origin);
        let open = self.open.values_mut().map(|open| &mut open.origin);
        let lessons = self.archive.change(|_| true).map(|lesson| &mut lesson.origin);
        rounds.chain(open).chain(lessons).for_each(|origin| origin.take_over(job, unmarked));
        self
    }

    /// The part that was known at an instant, for a job that does not take over the positions.
    #[must_use]
    pub fn known_at(mut self, instant: Timestamp) -> Self {
        self.rounds.retain(|round| round.row.known_at <= instant);
        self.archive.retain(|lesson| lesson.known_at <= instant);
        self.open.clear();
        self.after_loss = false;
        self
    }

    /// The memories that became known after an instant, or are about something that happened after it. A memory that a
    /// session starts with has none.
    #[must_use]
    pub fn known_after(&self, instant: Timestamp) -> Vec<RecalledMemoryRow> {
        let row = |kind, memory_id: String, origin: &Origin, known_at| RecalledMemoryRow {
            kind,
            memory_id,
            job: origin.job.clone(),
            known_at,
        };
        let rounds = self.rounds.iter().map(|round| {
            let known_at = round.row.known_at;
            row(MemoryKind::TraderRound, round.row.round_id.to_string(), &round.origin, known_at)
        });
        let open = self.open.iter().map(|(id, open)| {
            let known_at = open.known_at.map_or(open.opened_at, |at| at.max(open.opened_at));
            row(MemoryKind::OpenPositionContext, id.clone(), &open.origin, known_at)
        });
        let lessons = self.archive.iter().map(|lesson| {
            let known_at = lesson.known_at.max(lesson.exit_time);
            row(MemoryKind::Trade, lesson.trade_id.to_string(), &lesson.origin, known_at)
        });
        rounds.chain(open).chain(lessons).filter(|one| one.known_at > instant).collect()
    }

    pub(super) fn remember(&mut self, round: RecalledFrom<RoundMemoryRow>, keep: u32) {
        self.round_id = round.row.round_id;
        self.rounds.push(ContentRef::new(round));
        let most = MAX_WINDOW.min(keep) as usize;
        let surplus = self.rounds.len().saturating_sub(most);
        self.rounds.drain(..surplus);
    }
}

//! Commits with everything that needs no database: computed by the caller, so that the single writer does not.

use crate::error::StoreError;
use crate::rows::make_storable;
use crate::search;
use crate::session_head::Head;
use crate::texts::{NewText, NewTexts};
use papertape_core::id::ContentHash;
use papertape_core::json;
use papertape_core::record::chain::StepLink;
use papertape_core::record::{Commit, DerivedRow, Lease, SessionId, StepEnd, StoredText, Write};
use papertape_core::tape::StepClass;
use papertape_core::time::Timestamp;
use std::collections::BTreeSet;

/// Commits of one session that share a transaction.
#[derive(Debug)]
pub(super) struct PreparedCommits {
    pub(super) lease: Lease,
    pub(super) session: SessionId,
    pub(super) detached: bool,
    /// Max events that they produce.
    pub(super) events: usize,
    /// Whether they are progress of the job. Starting a step or interrupting one is not.
    pub(super) is_progress: bool,
    pub(super) texts: NewTexts,
    /// The session's counters, if they are known.
    pub(super) head: Option<Head>,
    pub(super) commits: Vec<(Timestamp, Vec<PreparedWrite>)>,
}

/// A write, except for a text.
#[derive(Debug)]
pub(super) enum PreparedWrite {
    End(Box<PreparedEnd>),
    Other(Box<Write>),
}

/// A completed step.
#[derive(Debug)]
pub(super) struct PreparedEnd {
    /// Without its derived rows.
    pub(super) end: StepEnd,
    /// The derived rows in their stored form.
    pub(super) rows: Vec<DerivedRow>,
    pub(super) implied_hash: ContentHash,
    /// Canonical JSON of the step's link, unless it covers attempts from the database.
    pub(super) link: String,
}

impl PreparedCommits {
    pub(super) fn of(commits: Vec<Commit>) -> Result<Option<Self>, StoreError> {
        let Some(first) = commits.first() else { return Ok(None) };
        let of = |commit: &Commit| (commit.lease.epoch, commit.session, commit.detached);
        if commits.iter().any(|other| of(other) != of(first) || other.lease.job != first.lease.job) {
            return Err(StoreError::inconsistent("a transaction has commits of several sessions"));
        }
        let (session, detached, lease) = (first.session, first.detached, first.lease.clone());
        let writes = || commits.iter().flat_map(|commit| &commit.writes);
        let messages: BTreeSet<ContentHash> = writes().flat_map(messages_of).collect();
        let (events, is_progress) = (writes().map(events).sum(), writes().any(is_progress));
        let mut preparing = Preparing { messages, texts: NewTexts::new() };
        let prepare = |commit: Commit| {
            (commit.at, commit.writes.into_iter().filter_map(|write| preparing.write(write)).collect())
        };
        let commits = commits.into_iter().map(prepare).collect();
        let texts = preparing.texts;
        Ok(Some(Self { lease, session, detached, events, is_progress, texts, head: None, commits }))
    }
}

/// Commits while they are being prepared.
struct Preparing {
    /// The texts of messages.
    messages: BTreeSet<ContentHash>,
    texts: NewTexts,
}

impl Preparing {
    fn write(&mut self, write: Write) -> Option<PreparedWrite> {
        match write {
            Write::Text(text) => {
                self.add(text);
                None
            }
            Write::CloseSession(mut close) => {
                // Only its hash is needed with the close itself.
                let body = std::mem::take(&mut close.state.body);
                self.add(StoredText { hash: close.state.hash, body });
                Some(PreparedWrite::Other(Box::new(Write::CloseSession(close))))
            }
            Write::End(end) => Some(PreparedWrite::End(Box::new(PreparedEnd::of(end)))),
            other => Some(PreparedWrite::Other(Box::new(other))),
        }
    }

    fn add(&mut self, text: StoredText) {
        let hash = text.hash;
        self.texts.entry(hash).or_insert_with(|| {
            if self.messages.contains(&hash) {
                let words = search::words(&text.body);
                NewText::with_words(text, words)
            } else {
                NewText::packed(text)
            }
        });
    }
}

impl PreparedEnd {
    fn of(mut end: StepEnd) -> Self {
        let mut rows = std::mem::take(&mut end.implied);
        make_storable(&mut rows);
        let implied_hash = json::hash(&json::to_value(&rows));
        let mut prepared = Self { end, rows, implied_hash, link: String::new() };
        prepared.link = prepared.link_with(&prepared.first_attempt());
        prepared
    }

    /// Whether the step was sent, or would have been: local steps, orders, guards and copied steps are not.
    pub(super) fn is_sent(&self) -> bool {
        self.end.class == StepClass::External && self.end.reused_from.is_none()
    }

    /// Its attempts, if there is only one.
    pub(super) fn first_attempt(&self) -> Vec<(u32, Option<String>)> {
        match &self.end.attempt {
            Some(attempt) => vec![(attempt.number, attempt.error.clone())],
            None if self.is_sent() => vec![(1, None)],
            None => Vec::new(),
        }
    }

    /// Canonical JSON of the step's link.
    pub(super) fn link_with(&self, attempts: &[(u32, Option<String>)]) -> String {
        let end = &self.end;
        let link = StepLink {
            path: &end.path,
            class: end.class,
            digest: end.digest,
            request_ref: Some(end.request_ref),
            outcome: Some((end.outcome_kind, end.outcome_ref)),
            implied_hash: self.implied_hash,
            detached: false,
            attempts,
            reused_from: end.reused_from.as_ref(),
        };
        json::canonical(&link.to_json())
    }
}

fn messages_of(write: &Write) -> impl Iterator<Item = ContentHash> {
    let rows = match write {
        Write::End(end) => &end.implied[..],
        _ => &[],
    };
    rows.iter().filter_map(|row| match row {
        DerivedRow::Message(row) => Some(row.content),
        _ => None,
    })
}

const fn is_progress(write: &Write) -> bool {
    matches!(
        write,
        Write::End(_)
            | Write::Abandoned { .. }
            | Write::CloseScope { .. }
            | Write::Summary { .. }
            | Write::CloseSession(_)
    )
}

/// Max events that a write produces.
fn events(write: &Write) -> usize {
    match write {
        Write::End(end) => {
            usize::from(end.class == StepClass::Guard)
                + end.implied.iter().filter(|row| has_event(row)).count()
        }
        Write::Instructions { .. } | Write::Action(_) | Write::FailDay { .. } | Write::CloseSession(_) => 1,
        Write::Text(_)
        | Write::Intent(_)
        | Write::Attempt { .. }
        | Write::SendAgain { .. }
        | Write::Abandoned { .. }
        | Write::CloseScope { .. }
        | Write::Summary { .. }
        | Write::Vector(_)
        | Write::Plan(_)
        | Write::Chat(_) => 0,
    }
}

const fn has_event(row: &DerivedRow) -> bool {
    matches!(row, DerivedRow::Message(_) | DerivedRow::Order(_))
}

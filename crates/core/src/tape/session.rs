//! One run of a session, and the transactions that it writes.

use super::host::Host;
use super::stop::{Divergence, SessionStop};
use super::tape::Tape;
use crate::content::StoredText;
use crate::id::ContentHash;
use crate::json;
use crate::message::Role;
use crate::record::{DerivedRow, MessageRow, Write};
use crate::step::StepPath;
use papertape_redact::Redactor;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One run of a session: its tape, its pending writes and its host.
pub struct SessionRun {
    host: Arc<dyn Host>,
    tape: Mutex<Tape>,
    deferred: Mutex<Vec<Write>>,
    written: Mutex<HashSet<ContentHash>>,
    redactor: Arc<Redactor>,
    seed: ContentHash,
}

impl SessionRun {
    /// A run on `tape`. The seed combines the job's and the agent-day's.
    #[must_use]
    pub fn new(host: Arc<dyn Host>, tape: Tape, redactor: Arc<Redactor>, seed: ContentHash) -> Arc<Self> {
        Arc::new(Self {
            host,
            tape: Mutex::new(tape),
            deferred: Mutex::default(),
            written: Mutex::default(),
            redactor,
            seed,
        })
    }

    /// Ends the run. Every step of the tape must have been used; pending writes and `closing` go into one
    /// transaction. A replay writes nothing.
    ///
    /// # Errors
    /// [`SessionStop::UnconsumedSteps`], or the error of the host's commit.
    pub async fn finish(&self, closing: Vec<Write>) -> Result<(), SessionStop> {
        let unread = self.tape().unread();
        if !unread.is_empty() {
            return Err(SessionStop::UnconsumedSteps(unread));
        }
        if self.tape().is_sealed() {
            return Ok(());
        }
        self.commit(closing).await
    }

    /// Ends a run that stops before these scopes, for an audit: every step of the tape outside of them must have been
    /// used. Nothing is written.
    ///
    /// # Errors
    /// [`SessionStop::UnconsumedSteps`].
    pub fn finish_before(&self, scopes: &[&str]) -> Result<(), SessionStop> {
        let is_later = |path: &StepPath| scopes.iter().any(|scope| path.is_within(scope));
        let mut unread = self.tape().unread();
        unread.retain(|path| !is_later(path));
        if unread.is_empty() { Ok(()) } else { Err(SessionStop::UnconsumedSteps(unread)) }
    }

    pub(super) fn tape(&self) -> MutexGuard<'_, Tape> {
        lock(&self.tape)
    }

    pub(super) fn host(&self) -> &dyn Host {
        &*self.host
    }

    /// The texts that this run has not written yet, as writes.
    pub(super) fn new_texts(&self, texts: impl Iterator<Item = StoredText>) -> Vec<Write> {
        let mut written = lock(&self.written);
        texts.filter(|text| written.insert(text.hash)).map(Write::Text).collect()
    }

    /// Commits the pending writes, then `writes`.
    pub(super) async fn commit(&self, writes: Vec<Write>) -> Result<(), SessionStop> {
        let mut batch = std::mem::take(&mut *lock(&self.deferred));
        let waiting = batch.len();
        batch.extend(writes);
        if batch.is_empty() {
            return Ok(());
        }
        // After a rejected transaction comes another one, which needs the pending writes and the texts.
        let refusable = batch.iter().any(|write| matches!(write, Write::Plan(_)));
        let retry_with = refusable.then(|| (batch[..waiting].to_vec(), texts_of(&batch[waiting..])));
        match (self.host.commit(batch).await, retry_with) {
            (Err(SessionStop::Refused(why)), Some((deferred, texts))) => {
                let mut written = lock(&self.written);
                written.retain(|hash| !texts.contains(hash));
                drop(written);
                let mut waits = lock(&self.deferred);
                let later = std::mem::replace(&mut *waits, deferred);
                waits.extend(later);
                Err(SessionStop::Refused(why))
            }
            (result, _) => result,
        }
    }

    /// Hands over the pending writes, then `writes`, without waiting until they are durable. Writes that others
    /// than this session can see are waited for.
    pub(super) async fn hand_over(&self, writes: Vec<Write>) -> Result<(), SessionStop> {
        if !writes.iter().all(Write::is_only_of_session) {
            return self.commit(writes).await;
        }
        let mut batch = std::mem::take(&mut *lock(&self.deferred));
        batch.extend(writes);
        self.host.hand_over(batch).await
    }

    pub(super) fn seed(&self) -> ContentHash {
        self.seed
    }

    pub(super) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    pub(super) fn defer_writes(&self, writes: Vec<Write>) {
        lock(&self.deferred).extend(writes);
    }

    pub(super) async fn diverged(
        &self,
        path: &StepPath,
        part: &'static str,
        was: Option<ContentHash>,
        now: Value,
    ) -> SessionStop {
        let was = match was {
            Some(at) => self.host.request(at).await,
            None => None,
        };
        let difference = was.and_then(|was| json::difference(&was, &now));
        SessionStop::Diverged(Box::new(Divergence { path: path.clone(), part, difference }))
    }
}

/// A tool call whose result enters the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolInvocation {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub input: Value,
}

/// The hashes of the texts in these writes.
fn texts_of(writes: &[Write]) -> Vec<ContentHash> {
    let text = |write: &Write| if let Write::Text(text) = write { Some(text.hash) } else { None };
    writes.iter().filter_map(text).collect()
}

pub(super) fn message_row(role: Role, content: ContentHash, tool: Option<ToolInvocation>) -> DerivedRow {
    let (tool_name, tool_input) = tool.map(|tool| (tool.name, tool.input)).unzip();
    DerivedRow::Message(MessageRow { role, content, tool_name, tool_input })
}

/// Ignores poisoning: every change under the lock is a single call, so the data is intact even if its holder
/// panicked.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

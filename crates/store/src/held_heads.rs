//! The counters of sessions between their commits. Only the holder of a job's lease changes them, so it need not read
//! them again.

use crate::session_head::Head;
use papertape_core::record::{Lease, SessionId};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Max sessions whose counters are held. Those of others are read from the database.
const MAX_HELD: usize = 4_096;

/// The counters of open sessions after their last commit.
#[derive(Debug, Default)]
pub(crate) struct HeldHeads(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    sessions: BTreeMap<SessionId, Slot>,
    next_ticket: u64,
}

#[derive(Debug)]
enum Slot {
    /// As the lease with this epoch left them.
    Held(i64, Head),
    /// A commit is in progress.
    Taken(Ticket),
}

/// The number of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

impl HeldHeads {
    /// Takes a session's counters for a commit, if this lease wrote them. If the outcome of the commit is not known, the
    /// next one reads them.
    pub(crate) fn take(&self, lease: &Lease, session: SessionId) -> (Ticket, Option<Head>) {
        let mut state = self.lock();
        if state.sessions.len() >= MAX_HELD {
            state.sessions.clear();
        }
        let ticket = Ticket(state.next_ticket);
        state.next_ticket += 1;
        let head = match state.sessions.insert(session, Slot::Taken(ticket)) {
            Some(Slot::Held(epoch, head)) => (epoch == lease.epoch && head.job == lease.job).then_some(head),
            Some(Slot::Taken(_)) | None => None,
        };
        (ticket, head)
    }

    /// Holds the counters of an open session after a commit, unless another commit has begun since.
    pub(crate) fn hold(&self, lease: &Lease, ticket: Ticket, head: Head) {
        let mut state = self.lock();
        let session = head.id;
        if !matches!(state.sessions.get(&session), Some(Slot::Taken(last)) if *last == ticket) {
            return;
        }
        if head.closed {
            state.sessions.remove(&session);
        } else {
            state.sessions.insert(session, Slot::Held(lease.epoch, head));
        }
    }

    /// Each change is complete, even if a thread panicked.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Time that calls spend waiting for one of the process's slots: it does not count toward deadlines, because it
//! says nothing about the model or the desk.

use crate::sync::lock;
use papertape_core::tape::StepPath;
use papertape_core::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// One session's wait times, by scope.
#[derive(Default)]
pub(crate) struct QueueWaits(Mutex<BTreeMap<String, Waited>>);

/// Time during which at least one call within a scope was waiting.
#[derive(Default)]
struct Waited {
    /// Number of calls waiting now.
    calls: u32,
    since: Timestamp,
    /// Total of completed waits.
    total: Duration,
}

impl QueueWaits {
    /// A call starts to wait.
    pub(crate) fn begin(&self, path: &StepPath, now: Timestamp) {
        let mut scopes = self.lock();
        for scope in scopes_of(path) {
            let waited = scopes.entry(scope.to_owned()).or_default();
            if waited.calls == 0 {
                waited.since = now;
            }
            waited.calls += 1;
        }
    }

    /// The call got its slot, or was dropped.
    pub(crate) fn end(&self, path: &StepPath, now: Timestamp) {
        let mut scopes = self.lock();
        for scope in scopes_of(path) {
            let Some(waited) = scopes.get_mut(scope) else { continue };
            waited.calls = waited.calls.saturating_sub(1);
            if waited.calls == 0 {
                waited.total += between(waited.since, now);
            }
        }
    }

    /// How long at least one call in the scope has waited so far. The scope of the whole session is `""`.
    pub(crate) fn of(&self, scope: &str, now: Timestamp) -> Duration {
        self.lock().get(scope).map_or(Duration::ZERO, |waited| {
            let open = if waited.calls > 0 { between(waited.since, now) } else { Duration::ZERO };
            waited.total + open
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Waited>> {
        lock(&self.0)
    }
}

/// The scope of a step and all enclosing scopes, up to the session's `""`.
fn scopes_of(path: &StepPath) -> impl Iterator<Item = &str> {
    let mut rest = path.as_str();
    std::iter::from_fn(move || {
        rest = rest.rsplit_once('/')?.0;
        Some(rest)
    })
    .chain([""])
}

/// Zero if the clock was set back.
fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or(Duration::ZERO)
}

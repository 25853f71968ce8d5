//! For how long calls have waited for one of the process's places: time that a deadline does not count, for
//! it says nothing of the model or the desk.

use papertape_core::tape::StepPath;
use papertape_core::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One session's waits, by scope.
#[derive(Default)]
pub(crate) struct Waits(Mutex<BTreeMap<String, Waited>>);

/// When at least one call in a scope, or below it, was waiting.
#[derive(Default)]
struct Waited {
    /// How many wait now.
    calls: u32,
    since: Timestamp,
    /// Of the times that are over.
    total: Duration,
}

impl Waits {
    /// A call begins to wait.
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

    /// It has its place, or was given up.
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

    /// For how long some call of the scope has waited, up to now. The whole session is the scope `""`.
    pub(crate) fn of(&self, scope: &str, now: Timestamp) -> Duration {
        self.lock().get(scope).map_or(Duration::ZERO, |waited| {
            let open = if waited.calls > 0 { between(waited.since, now) } else { Duration::ZERO };
            waited.total + open
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Waited>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The scope of a step and all that it lies in, up to the session's `""`.
fn scopes_of(path: &StepPath) -> impl Iterator<Item = &str> {
    let mut rest = path.as_str();
    std::iter::from_fn(move || {
        rest = rest.rsplit_once('/')?.0;
        Some(rest)
    })
    .chain([""])
}

/// Nothing, where the clock was set back.
fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or(Duration::ZERO)
}

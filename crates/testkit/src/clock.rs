//! A clock controlled by the test.

use futures::FutureExt as _;
use papertape_core::ports::{BoxFuture, Clock};
use papertape_core::time::Timestamp;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A manually advanced clock. Clones share the same time.
#[derive(Clone, Default)]
pub struct FakeClock(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    /// Since the Unix epoch.
    now: Duration,
    next: u64,
    sleepers: BTreeMap<(Duration, u64), Waker>,
}

impl FakeClock {
    /// A clock set to 2024-01-01T00:00:00Z.
    #[must_use]
    pub fn new() -> Self {
        let clock = Self::default();
        clock.lock().now = Duration::from_secs(1_704_067_200);
        clock
    }

    /// Advances the time, and wakes sleepers that are due.
    pub fn advance(&self, by: Duration) {
        let now = {
            let mut inner = self.lock();
            inner.now += by;
            inner.now
        };
        loop {
            let waker = {
                let mut inner = self.lock();
                match inner.sleepers.first_entry() {
                    Some(entry) if entry.key().0 <= now => entry.remove(),
                    _ => return,
                }
            };
            waker.wake();
        }
    }

    /// Advances the time to the first sleeper's wake-up. Returns `false` if there are no sleepers.
    pub fn advance_to_next(&self) -> bool {
        let by = {
            let inner = self.lock();
            inner.sleepers.keys().next().map(|(due, _)| due.saturating_sub(inner.now))
        };
        by.inspect(|by| self.advance(*by)).is_some()
    }

    /// Whether any task sleeps, so that nothing happens until time passes.
    #[must_use]
    pub fn has_sleepers(&self) -> bool {
        !self.lock().sleepers.is_empty()
    }

    /// Time passed since the clock was created.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.lock().now - Duration::from_secs(1_704_067_200)
    }

    /// Runs a future and everything it spawns to completion on its own runtime. Time passes only when nothing
    /// else can happen, and then up to the next sleeper.
    ///
    /// # Panics
    /// Panics if the future waits for something that can never happen.
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        let clock = self.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            // Called before its only thread parks: every task is waiting.
            .on_thread_park(move || {
                assert!(clock.advance_to_next(), "the future waits for what can never happen");
            })
            .build();
        runtime.expect("a runtime starts").block_on(future)
    }

    /// Runs a future until it ends or waits for time or an external event; in the latter case, drops it with
    /// everything it spawned and returns `None`.
    ///
    /// # Panics
    /// Panics if a runtime cannot be started.
    pub fn run_until_idle<F: Future>(&self, future: F) -> Option<F::Output> {
        let idle = Arc::new(tokio::sync::Notify::new());
        let told = Arc::clone(&idle);
        let runtime =
            tokio::runtime::Builder::new_current_thread().on_thread_park(move || told.notify_one()).build();
        runtime.expect("a runtime starts").block_on(async {
            tokio::select! {
                biased;
                output = future => Some(output),
                () = idle.notified() => None,
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        let micros = i64::try_from(self.lock().now.as_micros()).expect("a test does not last so long");
        Timestamp::from_microsecond(micros).expect("a test does not last so long")
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let due = self.lock().now.saturating_add(duration);
        Sleep { clock: self.clone(), due, id: None }.boxed()
    }
}

struct Sleep {
    clock: FakeClock,
    due: Duration,
    id: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let clock = self.clock.clone();
        let mut inner = clock.lock();
        if inner.now >= self.due {
            return Poll::Ready(());
        }
        let id = *self.id.get_or_insert_with(|| {
            inner.next += 1;
            inner.next
        });
        inner.sleepers.insert((self.due, id), context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.clock.lock().sleepers.remove(&(self.due, id));
        }
    }
}

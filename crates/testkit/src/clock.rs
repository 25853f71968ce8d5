//! Time that passes when a test says so.

use futures::FutureExt as _;
use papertape_core::ports::{BoxFuture, Clock};
use papertape_core::time::Timestamp;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A clock driven by hand. Clones are the same clock.
#[derive(Clone, Default)]
pub struct FakeClock(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    /// Since 1970.
    now: Duration,
    next: u64,
    sleepers: BTreeMap<(Duration, u64), Waker>,
}

impl FakeClock {
    /// A clock that stands at 2024-01-01T00:00:00Z.
    #[must_use]
    pub fn new() -> Self {
        let clock = Self::default();
        clock.lock().now = Duration::from_secs(1_704_067_200);
        clock
    }

    /// Lets time pass, and wakes whoever sleeps until then.
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

    /// Lets time pass until the first sleeper wakes. `false` where nobody sleeps.
    pub fn advance_to_next(&self) -> bool {
        let by = {
            let inner = self.lock();
            inner.sleepers.keys().next().map(|(due, _)| due.saturating_sub(inner.now))
        };
        by.inspect(|by| self.advance(*by)).is_some()
    }

    /// Is anybody asleep, so that nothing goes on until time passes?
    #[must_use]
    pub fn has_sleepers(&self) -> bool {
        !self.lock().sleepers.is_empty()
    }

    /// How much time has passed since the clock was made.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.lock().now - Duration::from_secs(1_704_067_200)
    }

    /// Runs a future to its end on a runtime of its own, and what it spawns beside it. Time passes only when
    /// nothing else can happen, and then to the next sleeper.
    ///
    /// # Panics
    /// Where the future waits for something that can never happen.
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        let clock = self.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            // Before its one thread goes to sleep: everybody waits.
            .on_thread_park(move || {
                assert!(clock.advance_to_next(), "the future waits for what can never happen");
            })
            .build();
        runtime.expect("a runtime starts").block_on(future)
    }

    /// Runs a future until it ends or waits for time to pass or for somebody outside; then it is dropped with
    /// all that it has spawned, and there is no answer.
    ///
    /// # Panics
    /// Where a runtime cannot be started.
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

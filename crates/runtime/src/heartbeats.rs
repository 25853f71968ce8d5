//! One heartbeat per worker extends the leases of all its jobs.

use crate::services::Services;
use crate::sync::lock;
use papertape_core::record::{Lease, LeaseState};
use papertape_core::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;

/// The leases of a worker. Clones share them.
#[derive(Clone)]
pub(crate) struct Heartbeats {
    services: Services,
    /// The owner of the leases.
    owner: String,
    lease_for: Duration,
    leases: Arc<Mutex<Leases>>,
    /// Whoever holds it sends the heartbeats for all leases.
    turn: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct Leases {
    held: BTreeMap<u64, (Lease, watch::Sender<LeaseState>)>,
    next: u64,
    /// When the last heartbeat was sent.
    last: Option<Timestamp>,
}

/// A lease whose job is running. Dropping it ends its part in the heartbeat.
pub(crate) struct HeldLease {
    heartbeats: Heartbeats,
    number: u64,
    state: watch::Receiver<LeaseState>,
}

impl HeldLease {
    /// The state that the next heartbeat reports. Must be awaited for the heartbeats to be sent; of all leases that
    /// wait, one sends them.
    pub(crate) async fn next_state(&mut self) -> LeaseState {
        let Self { heartbeats, state, .. } = self;
        tokio::select! {
            biased;
            // Cannot fail: the sender is there until this is dropped.
            changed = state.changed() => if changed.is_err() { std::future::pending().await },
            () = heartbeats.send() => {}
        }
        *state.borrow_and_update()
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        lock(&self.heartbeats.leases).held.remove(&self.number);
    }
}

impl Heartbeats {
    /// The heartbeat of this owner.
    pub(crate) fn new(services: Services, owner: String, lease_for: Duration) -> Self {
        Self { services, owner, lease_for, leases: Arc::default(), turn: Arc::default() }
    }

    /// Includes a lease in the heartbeat.
    pub(crate) fn hold(&self, lease: &Lease) -> HeldLease {
        let (sender, state) = watch::channel(LeaseState::Held);
        let mut leases = lock(&self.leases);
        let number = leases.next;
        leases.next += 1;
        leases.held.insert(number, (lease.clone(), sender));
        HeldLease { heartbeats: self.clone(), number, state }
    }

    /// Sends the next heartbeat when it is due, unless another lease does.
    async fn send(&self) {
        let _turn = self.turn.lock().await;
        let clock = &self.services.clock;
        // Often enough for a cancellation to take effect quickly.
        let every = (self.lease_for / 3).min(Duration::from_secs(1));
        let last = *lock(&self.leases).last.get_or_insert_with(|| clock.now());
        // A clock that was set back counts as one that stands.
        let since = Duration::try_from(clock.now().duration_since(last)).unwrap_or_default();
        clock.sleep(every.saturating_sub(since)).await;
        let (numbers, held): (Vec<u64>, Vec<Lease>) = {
            let mut leases = lock(&self.leases);
            leases.last = Some(clock.now());
            leases.held.iter().map(|(number, (lease, _))| (*number, lease.clone())).unzip()
        };
        match self.services.queue.heartbeat(&self.owner, &held, self.lease_for).await {
            Ok(states) => {
                let leases = lock(&self.leases);
                for (number, state) in numbers.iter().zip(states) {
                    if let Some((_, sender)) = leases.held.get(number) {
                        sender.send_replace(state);
                    }
                }
            }
            // The leases' own expiry decides when it is too late.
            Err(error) => tracing::warn!(error = %error, "the leases were not renewed"),
        }
    }
}

//! Failed logins: each one makes the client wait longer before its next attempt.

use papertape_core::time::Timestamp;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The maximum pause.
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// Failures older than this are forgotten.
const FORGET_AFTER: Duration = Duration::from_secs(900);
/// The maximum number of clients remembered; beyond it, the client whose failure is oldest is forgotten.
const MAX_CLIENTS: usize = 10_000;

/// Failed logins by client.
#[derive(Debug, Default)]
pub struct LoginThrottle(Mutex<HashMap<IpAddr, Failed>>);

#[derive(Clone, Copy, Debug)]
struct Failed {
    times: u32,
    last: Timestamp,
}

impl LoginThrottle {
    /// How long a client must still wait before its next login is checked; `None`: no wait.
    #[must_use]
    pub fn wait(&self, client: IpAddr, now: Timestamp) -> Option<Duration> {
        let failed = *self.clients().get(&network(client))?;
        let until = failed.last.checked_add(pause(failed.times)).unwrap_or(Timestamp::MAX);
        let left = Duration::try_from(until.duration_since(now)).ok()?;
        (!left.is_zero()).then_some(left)
    }

    /// Records a failure.
    pub fn failed(&self, client: IpAddr, now: Timestamp) {
        let mut clients = self.clients();
        let is_over = |failed: &Failed| is_over(failed, now);
        if clients.len() >= MAX_CLIENTS {
            clients.retain(|_, failed| !is_over(failed));
            let oldest = clients.iter().min_by_key(|(_, failed)| failed.last).map(|(client, _)| *client);
            if let Some(oldest) = oldest.filter(|_| clients.len() >= MAX_CLIENTS) {
                clients.remove(&oldest);
            }
        }
        let failed = clients.entry(network(client)).or_insert(Failed { times: 0, last: now });
        if is_over(failed) {
            failed.times = 0;
        }
        failed.times = failed.times.saturating_add(1);
        failed.last = now;
    }

    /// Forgets a client's failures.
    pub fn succeeded(&self, client: IpAddr) {
        self.clients().remove(&network(client));
    }

    /// A poisoned lock is safe to use: every entry is complete at any time.
    fn clients(&self) -> MutexGuard<'_, HashMap<IpAddr, Failed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_over(failed: &Failed, now: Timestamp) -> bool {
    Duration::try_from(now.duration_since(failed.last)).is_ok_and(|since| since > FORGET_AFTER)
}

/// 1, 1, 2, 4, … seconds.
fn pause(times: u32) -> Duration {
    let doublings = times.saturating_sub(2).min(16);
    Duration::from_secs(1 << doublings).min(MAX_PAUSE)
}

/// An IPv6 client usually owns a whole /64 network, so the network counts as one client.
fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        ip => ip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + secs).expect("an instant")
    }

    #[test]
    fn pauses_grow_to_a_bound_and_are_forgotten() {
        let throttle = LoginThrottle::default();
        let client = IpAddr::from([10, 0, 0, 1]);
        let mut pauses = Vec::new();
        let mut now = 0;
        for _ in 0..9 {
            throttle.failed(client, at(now));
            let wait = throttle.wait(client, at(now)).expect("a pause").as_secs();
            pauses.push(wait);
            now += i64::try_from(wait).expect("is small");
            assert_eq!(throttle.wait(client, at(now)), None);
        }
        assert_eq!(pauses, [1, 1, 2, 4, 8, 16, 32, 60, 60]);
        throttle.failed(client, at(now + 901));
        assert_eq!(throttle.wait(client, at(now + 901)), Some(Duration::from_secs(1)));
    }

    #[test]
    fn a_network_of_addresses_is_one_client_and_clients_are_bounded() {
        let throttle = LoginThrottle::default();
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        throttle.failed(address("2001:db8::1"), at(0));
        assert!(throttle.wait(address("2001:db8::ffff"), at(0)).is_some());
        assert!(throttle.wait(address("2001:db8:0:1::1"), at(0)).is_none());
        for n in 0..u32::try_from(MAX_CLIENTS).expect("is small") + 10 {
            throttle.failed(IpAddr::V4((0x0a00_0000 + n).into()), at(i64::from(n)));
        }
        assert!(throttle.clients().len() <= MAX_CLIENTS);
    }
}

//! Delays between attempts.

use papertape_core::tape::StepPath;
use papertape_runtime::retry::{fitting_pause, pause};
use std::time::Duration;

// Goal: delays double from half a second to half a minute, plus or minus half, and are deterministic.
#[test]
fn pauses_double_to_a_bound() {
    let path = StepPath::new("solo#1/model#1");
    for (attempt, base) in [(1, 0.5), (2, 1.0), (3, 2.0), (4, 4.0), (7, 30.0), (40, 30.0)] {
        let waits = pause(&path, attempt, None).as_secs_f64();
        assert!((base * 0.5..=base * 1.5).contains(&waits), "attempt {attempt}: {waits}");
        assert_eq!(pause(&path, attempt, None), pause(&path, attempt, None));
    }
    let others: std::collections::BTreeSet<Duration> =
        (1..20).map(|n| pause(&StepPath::of("solo#1", "model", n), 3, None)).collect();
    assert!(others.len() > 10, "they do not come back together");
}

// Goal: a delay is never shorter than the provider requests.
#[test]
fn a_provider_is_listened_to() {
    let path = StepPath::new("solo#1/model#1");
    for secs in [0, 90, 86_400, u64::MAX] {
        assert_eq!(pause(&path, 1, Some(Duration::from_secs(secs))), Duration::from_secs(secs));
    }
}

// Goal: a delay is limited by the call's timeout and the session's remaining time; our own is shortened to the
// call's, a provider's is not: there is no attempt before its end.
#[test]
fn pauses_lie_within_the_calls_and_the_sessions_time() {
    let secs = Duration::from_secs;
    assert_eq!(fitting_pause(secs(7), true, secs(120), secs(600)), Some(secs(7)));
    assert_eq!(fitting_pause(secs(120), true, secs(120), secs(600)), Some(secs(120)));
    assert_eq!(fitting_pause(secs(121), true, secs(120), secs(600)), None);
    assert_eq!(fitting_pause(secs(60), true, secs(120), secs(60)), None, "the session would be over");
    assert_eq!(fitting_pause(secs(30), false, secs(10), secs(600)), Some(secs(10)));
    assert_eq!(fitting_pause(secs(30), false, secs(120), secs(20)), None);
    assert_eq!(fitting_pause(secs(30), false, secs(120), Duration::MAX), Some(secs(30)));
}

//! Pauses between attempts.

use papertape_core::tape::StepPath;
use papertape_runtime::retry::pause;
use std::time::Duration;

// Goal: pauses double from half a second to half a minute, give or take a half, and are always the same.
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

// Goal: what a provider asks for is kept to, up to five minutes.
#[test]
fn a_provider_is_listened_to() {
    let path = StepPath::new("solo#1/model#1");
    assert_eq!(pause(&path, 1, Some(Duration::from_secs(90))), Duration::from_secs(90));
    assert_eq!(pause(&path, 1, Some(Duration::ZERO)), Duration::ZERO);
    assert_eq!(pause(&path, 1, Some(Duration::from_secs(86_400))), Duration::from_secs(300));
}

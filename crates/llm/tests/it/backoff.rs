//! Delays between attempts.

use papertape_llm::backoff;
use proptest::prelude::*;
use std::time::Duration;

#[test]
fn pauses_double_up_to_a_minute() {
    let whole: Vec<u64> = (1..=9).map(|attempt| backoff(attempt, None, 1.0).as_secs()).collect();
    assert_eq!(whole, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    assert_eq!(backoff(3, None, 0.0), Duration::from_secs(2));
    assert_eq!(backoff(0, None, 1.0), backoff(1, None, 1.0));
}

proptest! {
    /// Our own delay is at most a minute, never shorter than what the provider requests, and no input causes
    /// a panic.
    #[test]
    fn pauses_keep_their_bounds(attempt: u32, asked in proptest::option::of(0..100_000_u64), jitter: f64) {
        let asked = asked.map(Duration::from_millis);
        let pause = backoff(attempt, asked, jitter);
        prop_assert!(pause >= Duration::from_millis(500));
        prop_assert!(pause >= asked.unwrap_or_default());
        prop_assert!(pause <= Duration::from_mins(1).max(asked.unwrap_or_default() + Duration::from_secs(1)));
    }
}

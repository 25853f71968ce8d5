//! The seeds of trials.

use papertape_core::id::ContentHash;

/// The seed of each trial: the first is the configuration's own, the others are derived from it and the trial's number.
/// They are distinct and fit in 31 bits, the range that every provider accepts. More trials of the same configuration
/// begin with the same seeds, so days that are already completed are not run again.
pub(super) fn seeds(own: u64, trials: u32) -> Vec<u64> {
    let mut seeds = vec![own];
    for trial in 2..=trials {
        let derived = (0_u32..).map(|draw| derive(own, trial, draw)).find(|seed| !seeds.contains(seed));
        seeds.extend(derived);
    }
    seeds
}

fn derive(own: u64, trial: u32, draw: u32) -> u64 {
    let hash = ContentHash::of(format!("papertape trial\n{own}\n{trial}\n{draw}").as_bytes());
    let [first, second, third, fourth, ..] = *hash.as_bytes();
    u64::from(u32::from_be_bytes([first, second, third, fourth]) >> 1)
}

#[cfg(test)]
mod tests {
    use super::seeds;
    use std::collections::BTreeSet;

    /// Goal: seeds are distinct, small enough for every provider, and those of fewer trials are a prefix of those of
    /// more.
    #[test]
    fn seeds_are_distinct_and_stable() {
        let all = seeds(7, 100);
        assert_eq!(all[0], 7);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 100);
        assert!(all.iter().all(|seed| *seed <= i32::MAX as u64), "{all:?}");
        assert_eq!(seeds(7, 3), all[..3]);
        assert_ne!(seeds(8, 3)[1..], all[1..3], "another configuration has other seeds");
        // The keys of completed days contain them: they must never change.
        assert_eq!(seeds(0, 4), SEEDS_OF_0);
    }

    const SEEDS_OF_0: [u64; 4] = [0, 470_869_311, 2_113_642_258, 1_951_533_776];
}

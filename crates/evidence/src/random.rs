//! Random numbers of a method, and the stationary bootstrap.
//!
//! The seed is a hash of the inputs of a statistic, so the same statistic has the same bounds everywhere. The generator
//! is ChaCha8, seeded with the BLAKE3 hash of the method's version, the dataset hashes, the sorted job IDs and the name
//! of the statistic.
//!
//! Source of the bootstrap: Politis and Romano (1994), "The stationary bootstrap". Assumption: a stationary series
//! whose dependence is short compared with the block length.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// Part of every seed; incremented whenever the same input could give a different result.
pub const METHOD_VERSION: u32 = 1;

/// The seed of one statistic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// `datasets` are content hashes in the caller's order; `jobs` are IDs in any order; `statistic` is its name.
    ///
    /// ```
    /// use papertape_evidence::Seed;
    /// let seed = Seed::derive(&["d1"], &["job-2", "job-1"], "reorder_band");
    /// assert_eq!(seed, Seed::derive(&["d1"], &["job-1", "job-2"], "reorder_band"));
    /// ```
    #[must_use]
    pub fn derive(datasets: &[&str], jobs: &[&str], statistic: &str) -> Self {
        let mut jobs = jobs.to_vec();
        jobs.sort_unstable();
        let mut hasher = blake3::Hasher::new();
        hasher.update(&METHOD_VERSION.to_le_bytes());
        // Lengths come first, so that different inputs never hash the same bytes.
        for part in [datasets, &jobs, &[statistic]] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            for text in part {
                hasher.update(&(text.len() as u64).to_le_bytes());
                hasher.update(text.as_bytes());
            }
        }
        Self(*hasher.finalize().as_bytes())
    }
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self(ChaCha8Rng::from_seed(seed.0))
    }

    /// Uniform on [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform on `0..bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: usize) -> usize {
        scaled(self.uniform(), bound)
    }

    /// A uniform permutation of `0..length`.
    pub fn permutation(&mut self, length: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..length).collect();
        for at in (1..length).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }
}

fn scaled(uniform: f64, bound: usize) -> usize {
    ((uniform * bound as f64) as usize).min(bound.saturating_sub(1))
}

/// The days of one draw of a stationary bootstrap: a random day, then with probability `restart` (the reciprocal of the
/// expected block length) another random day, otherwise the next day, wrapping around at the end. `uniform` gives
/// numbers on [0, 1).
#[must_use]
pub fn stationary_indices(days: usize, restart: f64, uniform: &mut dyn FnMut() -> f64) -> Vec<usize> {
    let mut indices = Vec::with_capacity(days);
    for _ in 0..days {
        let at = match indices.last() {
            Some(last) if uniform() >= restart => (last + 1) % days,
            _ => scaled(uniform(), days),
        };
        indices.push(at);
    }
    indices
}

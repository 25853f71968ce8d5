//! The mask's randomness: drawn from the source's hash, so that the same dataset is always masked the same way.

use super::VERSION;
use papertape_core::id::ContentHash;
use rust_decimal::Decimal;

/// Draws for one dataset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seed(ContentHash);

/// Draws about one thing.
pub(super) struct Draws(blake3::OutputReader);

impl Seed {
    pub(super) fn new(source: ContentHash) -> Self {
        Self(source)
    }

    /// The draws about something, named by its kind and itself.
    pub(super) fn about(self, kind: &str, what: &str) -> Draws {
        let mut hasher = blake3::Hasher::new();
        for part in ["papertape.mask", &VERSION.to_string(), &self.0.to_hex(), kind, what] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Draws(hasher.finalize_xof())
    }

    /// A short text that stands for another one.
    pub(super) fn digest(self, kind: &str, what: &str) -> String {
        format!("{:012x}", self.about(kind, what).next() & 0xffff_ffff_ffff)
    }

    /// A factor from 0.80 to 1.25 with two decimals, never 1. Two decimals keep every product exact.
    pub(super) fn factor(self, kind: &str, what: &str) -> Decimal {
        // 0.80 to 0.99, then 1.01 to 1.25.
        let at = self.about(kind, what).below(45);
        let hundredths = if at < 20 { 80 + at } else { 81 + at };
        Decimal::new(i64::try_from(hundredths).unwrap_or(80), 2).normalize()
    }
}

impl Draws {
    fn next(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A number below this one. The bias of the remainder is below 2^-40.
    pub(super) fn below(&mut self, count: usize) -> usize {
        let count = count.max(1) as u64;
        usize::try_from(self.next() % count).unwrap_or_default()
    }

    /// One of these.
    pub(super) fn of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

//! Many vectors in one block of memory, with exact nearest-neighbor search.

use crate::vector::dot;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Rows of one dimension, stored contiguously.
#[derive(Clone, Debug)]
pub struct Matrix {
    dimension: usize,
    numbers: Vec<f32>,
}

/// A search hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The row's number, in insertion order.
    pub row: usize,
    /// Its dot product with the query; for unit vectors, the cosine.
    pub score: f32,
}

/// Ordered from worse to better: by score; on ties, the earlier row is better.
#[derive(PartialEq)]
struct Ranked(Hit);

impl Eq for Ranked {}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.score.total_cmp(&other.0.score).then(other.0.row.cmp(&self.0.row))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Matrix {
    /// An empty matrix for vectors of this dimension.
    #[must_use]
    pub const fn new(dimension: usize) -> Self {
        Self { dimension, numbers: Vec::new() }
    }

    /// Numbers per row.
    #[must_use]
    pub const fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len().checked_div(self.dimension).unwrap_or(0)
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Adds a row and returns its number; returns `None` and adds nothing if the dimension differs.
    pub fn push(&mut self, vector: &[f32]) -> Option<usize> {
        if vector.len() != self.dimension || vector.is_empty() {
            return None;
        }
        self.numbers.extend_from_slice(vector);
        Some(self.len() - 1)
    }

    /// The row with this number.
    #[must_use]
    pub fn row(&self, row: usize) -> Option<&[f32]> {
        self.numbers.get(row.checked_mul(self.dimension)?..)?.get(..self.dimension)
    }

    /// The `most` rows nearest to the query, best first; on ties, the earlier row first. Scans every row: nothing
    /// is approximate. A query of another dimension finds nothing.
    #[must_use]
    pub fn nearest(&self, query: &[f32], most: usize) -> Vec<Hit> {
        if query.len() != self.dimension || self.dimension == 0 {
            return Vec::new();
        }
        let rows = self.numbers.chunks_exact(self.dimension).enumerate();
        best(rows.map(|(row, vector)| Hit { row, score: dot(vector, query) }), most)
    }

    /// The same among some rows only: filter first, then search. Rows that do not exist are skipped.
    #[must_use]
    pub fn nearest_of(&self, query: &[f32], rows: impl Iterator<Item = usize>, most: usize) -> Vec<Hit> {
        if query.len() != self.dimension {
            return Vec::new();
        }
        let hit = |row| Some(Hit { row, score: dot(self.row(row)?, query) });
        best(rows.filter_map(hit), most)
    }
}

/// The best hits, through a heap of at most `most` entries.
fn best(hits: impl Iterator<Item = Hit>, most: usize) -> Vec<Hit> {
    let mut heap: BinaryHeap<Reverse<Ranked>> = BinaryHeap::new();
    let mut worst = f32::NEG_INFINITY;
    for hit in hits {
        // The common case first: a row worse than all in the heap.
        if heap.len() == most && hit.score < worst {
            continue;
        }
        heap.push(Reverse(Ranked(hit)));
        if heap.len() > most {
            heap.pop();
        }
        worst = heap.peek().map_or(f32::INFINITY, |Reverse(Ranked(hit))| hit.score);
    }
    heap.into_sorted_vec().into_iter().map(|Reverse(Ranked(hit))| hit).collect()
}

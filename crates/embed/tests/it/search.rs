//! The search finds exactly what a full scan finds, and the fusion follows the formula.

use papertape_embed::reciprocal_rank_fusion::reciprocal_ranks;
use papertape_embed::vector::dot;
use papertape_embed::{Hit, Matrix};
use proptest::prelude::*;

fn matrix(rows: &[Vec<f32>]) -> Matrix {
    let mut matrix = Matrix::new(rows.first().map_or(1, Vec::len));
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(matrix.push(row), Some(at));
    }
    matrix
}

/// By sorting everything: the expected result of the heap.
fn sorted(rows: &[Vec<f32>], query: &[f32], among: &[usize], most: usize) -> Vec<Hit> {
    let mut hits: Vec<Hit> =
        among.iter().map(|row| Hit { row: *row, score: dot(&rows[*row], query) }).collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row)));
    hits.truncate(most);
    hits
}

proptest! {
    /// Goal: the bounded heap returns the same rows in the same order as a full sort, over all rows and over a
    /// subset, including many ties.
    #[test]
    fn the_search_is_exact(
        rows in prop::collection::vec(prop::collection::vec((-3_i8..=3).prop_map(f32::from), 19), 1..60),
        query in prop::collection::vec((-3_i8..=3).prop_map(f32::from), 19),
        most in 0_usize..70,
        keep in any::<u64>(),
    ) {
        let matrix = matrix(&rows);
        let all: Vec<usize> = (0..rows.len()).collect();
        prop_assert_eq!(matrix.nearest(&query, most), sorted(&rows, &query, &all, most));
        let some: Vec<usize> = all.iter().copied().filter(|row| keep >> (row % 64) & 1 == 1).collect();
        let found = matrix.nearest_of(&query, some.iter().copied(), most);
        prop_assert_eq!(found, sorted(&rows, &query, &some, most));
    }

    /// Goal: the dot product in lanes equals the plain sum of products, for any length.
    #[test]
    fn the_product_is_the_sum_of_products(
        pairs in prop::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 0..100),
    ) {
        let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
        let plain: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        prop_assert!((f64::from(dot(&a, &b)) - plain).abs() < 1e-4);
    }
}

/// Goal: rows and queries of the wrong dimension are rejected or find nothing, and nothing panics.
#[test]
fn what_does_not_fit_finds_nothing() {
    let mut matrix = Matrix::new(3);
    assert!(matrix.is_empty() && matrix.nearest(&[1.0, 0.0, 0.0], 5).is_empty());
    assert_eq!(matrix.push(&[1.0, 2.0]), None);
    assert_eq!(matrix.push(&[1.0, 2.0, 3.0]), Some(0));
    assert_eq!((matrix.len(), matrix.row(0), matrix.row(1)), (1, Some(&[1.0, 2.0, 3.0][..]), None));
    assert!(matrix.nearest(&[1.0], 5).is_empty());
    assert!(matrix.nearest_of(&[1.0, 0.0, 0.0], [7, usize::MAX].into_iter(), 5).is_empty());
    assert!(Matrix::new(0).nearest(&[], 5).is_empty());
}

/// Goal: known results of the formula. `b` is second and first: 1/62 + 1/61; `a` is only first: 1/61; on ties the
/// smaller comes first.
#[test]
fn rankings_are_fused_by_their_ranks() {
    assert_eq!(reciprocal_ranks(&[&["a", "b"], &["b"]]), ["b", "a"]);
    assert_eq!(reciprocal_ranks(&[&["z", "b"], &["b", "z"]]), ["b", "z"]);
    assert_eq!(reciprocal_ranks(&[&["x", "y", "z"], &["z"]]), ["z", "x", "y"]);
    assert!(reciprocal_ranks::<u8>(&[&[], &[]]).is_empty());
}

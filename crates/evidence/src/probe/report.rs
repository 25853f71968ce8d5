//! The result of a quiz, by kind.

use super::QuizItem;
use crate::quiz::{
    PermutationItem, ProbeVerdict, QuizKind, QuizResponse, QuizScore, binomial_critical, majority,
    permutation_by_month, probe_verdicts,
};
use crate::random::Seed;
use serde::{Deserialize, Serialize};

/// The responses to the wordings of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemOutcome {
    /// One per wording. A failed call counts as declined.
    pub responses: Vec<QuizResponse>,
    /// How many of its calls failed.
    pub failed_calls: usize,
}

/// The result of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindReport {
    /// Items.
    pub items: QuizScore,
    /// Controls.
    pub controls: QuizScore,
    /// Calls of either that failed after all retries; their responses count as declined.
    pub failed_calls: usize,
    /// The p-value of the permutation by month; `None` under six months.
    pub permutation_p: Option<f64>,
    /// The number of correct items that chance reaches in at most 5% of quizzes; `None` if even all would not be enough.
    pub critical_correct: Option<usize>,
    /// The verdict.
    pub verdict: ProbeVerdict,
}

impl KindReport {
    /// Which kind.
    #[must_use]
    pub fn kind(&self) -> QuizKind {
        self.items.kind
    }
}

/// Scores the outcomes of a quiz's items, in their order. `dataset` is the content hash of the dataset.
#[must_use]
pub fn kind_reports(
    kinds: &[QuizKind],
    items: &[QuizItem],
    outcomes: &[ItemOutcome],
    dataset: &str,
) -> Vec<KindReport> {
    let mut scored = Vec::new();
    let mut failed = Vec::new();
    for kind in kinds {
        let mut scores = [QuizScore::new(*kind), QuizScore::new(*kind)];
        let mut rows = Vec::new();
        let mut failed_calls = 0;
        for (item, outcome) in items.iter().zip(outcomes).filter(|(item, _)| item.kind == *kind) {
            let side = &mut scores[usize::from(item.is_control)];
            let score = side.add(majority(&outcome.responses), item.truth);
            rows.push(PermutationItem { month: item.month, score, is_control: item.is_control });
            failed_calls += outcome.failed_calls;
        }
        let seed = Seed::derive(&[dataset], &[], &format!("memory quiz permutation {}", kind.name()));
        let [items, controls] = scores;
        scored.push((items, controls, permutation_by_month(&rows, seed)));
        failed.push(failed_calls);
    }
    let verdicts = probe_verdicts(&scored);
    let parts = scored.into_iter().zip(failed).zip(verdicts);
    parts
        .map(|(((items, controls, permutation_p), failed_calls), verdict)| KindReport {
            critical_correct: binomial_critical(items.items, items.chance(), 0.05),
            items,
            controls,
            failed_calls,
            permutation_p,
            verdict,
        })
        .collect()
}

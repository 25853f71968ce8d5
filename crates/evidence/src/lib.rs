//! Whether a difference between runs is more than chance: intervals, tests and verdicts over series of daily returns.
//! Pure: it must never know where a series comes from, what an agent is or how a result is displayed, and it must never
//! use a clock, a file or a database.
//!
//! A caller has the daily values of each trial of each agent. It turns each of them into a [`ReturnSeries`], aligns the
//! series, and reads the estimate, the interval and the [`Verdict`]:
//!
//! ```
//! use papertape_evidence::{MeanEstimate, ReturnSeries, align};
//! # fn values(scale: f64) -> Vec<(papertape_core::time::Date, f64)> {
//! #     let first: papertape_core::time::Date = "2024-01-02".parse().unwrap();
//! #     let mut value = 100.0;
//! #     first.series(jiff::Span::new().days(1)).take(80).enumerate().map(|(i, day)| {
//! #         value *= 1.0 + scale * (i as f64).sin();
//! #         (day, value)
//! #     }).collect()
//! # }
//! # let (of_a, of_b) = (values(0.01), values(0.012));
//! let a = ReturnSeries::from_values(100.0, &of_a)?;
//! let b = ReturnSeries::from_values(100.0, &of_b)?;
//! let paired = align(&[&a, &b]);
//! let estimate = MeanEstimate::of(&paired.difference(0, 1)).expect("at least 20 days");
//! let interval = estimate.interval();
//! assert!(interval.low <= estimate.mean && estimate.mean <= interval.high);
//! # Ok::<(), papertape_evidence::SeriesError>(())
//! ```
//!
//! One file per method. `docs/method.md` explains what each one proves and what it does not. Daily values are
//! differences of log returns unless a function says otherwise; 0.01 is one percent.

mod block_length;
mod comparable;
mod cone;
mod counterfactual;
mod deflated_sharpe;
mod distribution;
mod drawdown_band;
mod estimand;
mod ewc;
mod holm;
mod power;
mod probe;
mod quiz;
mod random;
mod random_baseline;
mod ranks;
mod series;
mod sharpe;
mod spa;
mod trials;
mod two_way;
mod verdict;

pub use block_length::{BlockLength, bootstrap_block_length, politis_white};
pub use comparable::{Conditions, Mismatch};
pub use cone::cone;
pub use counterfactual::{CounterfactualResult, MIN_BLOCK_DAYS, counterfactual_future};
pub use deflated_sharpe::{
    DeflatedSharpe, SharpeMoments, deflated_sharpe, deflated_sharpe_of, expected_max_sharpe,
    min_track_record_length, probabilistic_sharpe,
};
pub use distribution::{normal_cdf, normal_quantile, t_quantile, t_two_sided};
pub use drawdown_band::{ReorderBand, reorder_band};
pub use estimand::Estimand;
pub use ewc::{
    Interval, MIN_INTERVAL_DAYS, MIN_VERDICT_DAYS, MeanEstimate, cosine_count, long_run_variance,
    long_run_variance_with,
};
pub use holm::{FAMILY_LEVEL, holm, holm_levels};
pub use power::{DEFAULT_TARGET, Noise, days_needed, min_detectable_effect};
pub use probe::{
    DEFAULT_ITEMS, DailyClose, ItemOutcome, KindReport, MIN_LATE_MONTHS, PARAPHRASES, PriceHistory,
    QUIZ_DESIGN_VERSION, Quiz, QuizControls, QuizDesign, QuizItem, QuizPrompt, design_quiz, kind_reports,
};
pub use quiz::{
    PermutationItem, ProbeVerdict, QuizKind, QuizResponse, QuizScore, binomial_critical, binomial_power,
    detectable_points, difference_power, majority, newcombe, permutation_by_month, probe_verdicts,
};
pub use random::{METHOD_VERSION, Random, Seed, stationary_indices};
pub use random_baseline::{
    Availability, BaselineDraw, BaselineDraws, MAX_REDRAWS, MIN_SCHEDULES, Null, NullTest, WeightSchedule,
    draw_baseline, upper_tail_p,
};
pub use ranks::{PairDecision, RankSet, rank_sets};
pub use series::{AlignedSeries, ReturnSeries, SeriesError, align, net_of_cost};
pub use sharpe::{SharpeEstimate, sharpe_difference, sharpe_estimate, sharpe_influence};
pub use spa::{SpaForm, SpaResult, spa, spa_with};
pub use trials::{TrialComparison, compare_trials};
pub use two_way::{SideVariance, TrialPanel, TwoWay, TwoWayError, two_way};
pub use verdict::{Contrast, NotDistinguishable, RobustnessCheck, Verdict, VerdictInput, verdict};

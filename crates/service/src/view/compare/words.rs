//! A verdict in words, with its reasons.

use super::estimate::Estimate;
use super::items::Item;
use super::judged::{Check, Judged};
use papertape_evidence::{
    Estimand, FAMILY_LEVEL, MIN_INTERVAL_DAYS, MIN_VERDICT_DAYS, NotDistinguishable, Verdict,
};

/// The code of a verdict.
pub(super) fn code(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::NotComparable { .. } => "not_comparable",
        Verdict::Insolvent { .. } => "insolvent",
        Verdict::Identical => "identical",
        Verdict::Interim => "interim",
        Verdict::TooFewDays { .. } => "too_few_days",
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::NotDistinguishable(_) => "not_distinguishable",
    }
}

/// The verdict in words.
pub(super) fn words(verdict: &Verdict) -> String {
    let plain = code(verdict).replace('_', " ");
    match verdict {
        Verdict::NotDistinguishable(NotDistinguishable { depends_on, .. }) if !depends_on.is_empty() => {
            let checks: Vec<&str> = depends_on.iter().map(|check| check.words()).collect();
            format!("{plain} ({})", checks.join(", "))
        }
        _ => plain,
    }
}

/// The name of an estimand.
pub(super) fn estimand(estimand: Estimand) -> &'static str {
    match estimand {
        Estimand::RunAgainstBaseline => "run_against_baseline",
        Estimand::TwoRuns => "two_runs",
        Estimand::TheseDays => "these_days",
        Estimand::Configurations => "configurations",
        Estimand::Windows => "windows",
    }
}

/// Why this verdict.
pub(super) fn reasons(one: &Judged<'_>, verdict: &Verdict, target: f64) -> Vec<String> {
    let mut reasons = Vec::new();
    match verdict {
        Verdict::NotComparable { .. } => {
            reasons.extend(one.described.iter().map(|found| match found.what.as_str() {
                "trials" => format!(
                    "{} against {} trials per window: compare single runs, or 3 or more trials of each",
                    found.a, found.b
                ),
                what => format!("different {what}: {} against {}", found.a, found.b),
            }));
        }
        Verdict::Insolvent { .. } => {
            let lost =
                |item: &Item| item.insolvent_on().map(|on| format!("{} lost everything on {on}", item.label));
            reasons.extend([one.a, one.b].into_iter().filter_map(lost));
        }
        Verdict::Identical => reasons.push("no day differs by more than rounding".to_owned()),
        Verdict::Interim => {
            let open = |item: &Item| Some(format!("{}: {}", item.label, item.interim.as_ref()?));
            reasons.extend([one.a, one.b].into_iter().filter_map(open));
            reasons.dedup();
        }
        Verdict::TooFewDays { days, different_days, has_interval } => {
            if *days < MIN_VERDICT_DAYS {
                reasons.push(format!("{days} shared days; a verdict needs {MIN_VERDICT_DAYS}"));
            }
            if *different_days < 30 {
                reasons.push(format!("{different_days} days with a difference; a verdict needs 30"));
            }
            if !has_interval {
                let why = match *days < MIN_INTERVAL_DAYS {
                    true => "an interval needs 20 days",
                    false => "the windows overlap: they have no interval together",
                };
                reasons.push(why.to_owned());
            }
        }
        Verdict::Better | Verdict::Worse => {
            reasons.push(format!("p {} (Holm), at most {FAMILY_LEVEL}", p(one.holm_p)));
            reasons.push(check("with the same orders at the next open", &one.refilled));
            reasons.push(check("net of model cost", &one.net));
        }
        Verdict::NotDistinguishable(found) => {
            let relation = if one.holm_p <= FAMILY_LEVEL { "at most" } else { "above" };
            reasons.push(format!("p {} (Holm), {relation} {FAMILY_LEVEL}", p(one.holm_p)));
            if !found.depends_on.is_empty() {
                reasons.push(check("with the same orders at the next open", &one.refilled));
                reasons.push(check("net of model cost", &one.net));
            }
            reasons.push(format!(
                "differences under {:.1} points per year would not have been seen",
                100.0 * found.min_detectable
            ));
            // Without the rounding errors of the fraction.
            let target = (1e8 * target).round() / 1e6;
            reasons.push(match found.days_needed {
                Some(days) => format!("{days} days would show {target} points per year"),
                None => format!("no number of days would show {target} points per year"),
            });
        }
    }
    reasons
}

fn check(what: &str, check: &Check) -> String {
    match &check.estimate {
        Ok(Some(estimate)) => {
            let difference = 100.0 * estimate.mean() * estimate.days.len() as f64;
            let p_value = match Estimate::p_value(estimate) {
                Some(_) => format!(", p {}", p(check.holm_p)),
                None => String::new(),
            };
            format!("{what}: {difference:+.2} points over the days{p_value}")
        }
        Ok(None) => format!("{what}: no shared days"),
        Err(why) => format!("{what}: {}", why.reason),
    }
}

/// A p-value with three digits.
fn p(value: f64) -> String {
    if value < 0.001 { "< 0.001".to_owned() } else { format!("= {value:.3}") }
}

//! Members of indexes: periods that overlap are refused, and symbols without bars are left out with a note.

use super::state::Reconciler;
use crate::import::collect::{Keyed, MembershipKey, RowLocation};
use papertape_core::id::Symbol;
use papertape_core::market::Membership;
use std::collections::{BTreeMap, BTreeSet};

/// How many symbols of an index a note names.
const NAMED: usize = 5;

/// Adds the periods that do not contradict one another. It needs the symbols that have bars.
pub(super) fn add_memberships(reconciler: &mut Reconciler<'_>, rows: Keyed<MembershipKey, Membership>) {
    let rows = reconciler.dedupe(rows, "the membership is given");
    let overlapping = overlapping(&rows);
    let mut without: BTreeMap<String, BTreeSet<Symbol>> = BTreeMap::new();
    let mut late = 0;
    for (period, place) in rows.into_values() {
        if let Some(other) = overlapping.get(&place) {
            reconciler
                .refuse(place, format!("the membership overlaps another one of `{}` {other}", period.symbol));
        } else if reconciler.symbols.contains(&period.symbol) {
            late += usize::from(is_late(reconciler, &period));
            reconciler.builder.membership(period);
        } else {
            without.entry(period.index).or_default().insert(period.symbol);
        }
    }
    for (index, symbols) in without {
        let named: Vec<&str> = symbols.iter().take(NAMED).map(Symbol::as_str).collect();
        let more = symbols.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        reconciler.notes.push(format!(
            "members without bars are left out of {index}: {} ({}{more}); a run on it trades without them",
            symbols.len(),
            named.join(", ")
        ));
    }
    if late > 0 {
        reconciler.notes.push(format!(
            "{late} memberships begin or end after the day from which they count was over: each change counts from its \
             announcement on"
        ));
    }
}

/// Was a change announced after the day on which it takes effect?
fn is_late(reconciler: &Reconciler<'_>, period: &Membership) -> bool {
    let zone = reconciler.options.hours.zone();
    let after = |at: Option<papertape_core::time::Timestamp>, date| {
        at.is_some_and(|at| at.to_zoned(zone.clone()).date() > date)
    };
    after(period.announced_at, period.from)
        || period.until.is_some_and(|until| after(period.until_announced_at, until))
}

/// The places of periods that overlap another of the same index and symbol, each with the other's days.
fn overlapping(rows: &BTreeMap<MembershipKey, (Membership, RowLocation)>) -> BTreeMap<RowLocation, String> {
    let mut found = BTreeMap::new();
    // The period that reaches furthest, of those before.
    let mut furthest: Option<&(Membership, RowLocation)> = None;
    for row in rows.values() {
        let same =
            furthest.filter(|(before, _)| (&before.index, &before.symbol) == (&row.0.index, &row.0.symbol));
        if let Some(before) = same.filter(|(before, _)| before.until.is_none_or(|until| row.0.from < until)) {
            found.insert(before.1, days(&row.0));
            found.insert(row.1, days(&before.0));
        }
        let reaches_on = |before: &Membership| match (before.until, row.0.until) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(before), Some(until)) => before >= until,
        };
        if same.is_none_or(|(before, _)| !reaches_on(before)) {
            furthest = Some(row);
        }
    }
    found
}

fn days(period: &Membership) -> String {
    let until = period.until.map_or_else(|| "on".to_owned(), |until| format!("until {until}"));
    format!("from {} {until}", period.from)
}

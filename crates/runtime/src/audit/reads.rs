//! What a session read, according to the record.

use super::report::{Finding, FindingKind, Item, NewestRead, Phase, Reads};
use papertape_core::market::{Exposure, TradingDay};
use papertape_core::record::{DerivedRow, RecalledMemoryRow};
use papertape_core::tape::StepPath;
use papertape_core::time::Timestamp;
use std::collections::BTreeMap;

/// The rows derived from a session's steps.
pub(super) type DerivedRows = BTreeMap<StepPath, Vec<DerivedRow>>;

/// The instant of a step's phase.
pub(super) fn instant_of(path: &StepPath, day: &TradingDay) -> Timestamp {
    if Phase::of(path).is_at_open() { day.open } else { day.close }
}

/// The session's reads, and the newest fact of each instant.
pub(super) fn summarize(rows: &DerivedRows) -> Reads {
    let mut reads = Reads::default();
    for (path, rows) in rows {
        for row in rows {
            let DerivedRow::Exposure(exposure) = row else { continue };
            reads.count += 1;
            reads.rows += exposure.rows;
            let Some(known_at) = exposure.latest_known_at else { continue };
            let newest = if Phase::of(path).is_at_open() { &mut reads.at_open } else { &mut reads.at_close };
            if newest.as_ref().is_none_or(|newest| newest.known_at < known_at) {
                let (series, date) = (exposure.series.clone(), exposure.last);
                *newest = Some(NewestRead { path: path.clone(), series, date, known_at });
            }
        }
    }
    reads
}

/// The market data that a step read from after its instant.
pub(super) fn late_items(rows: &DerivedRows, path: &StepPath, day: &TradingDay) -> Vec<Item> {
    let instant = instant_of(path, day);
    let late = |exposure: &Exposure| {
        let known_at = exposure.latest_known_at.filter(|at| *at > instant)?;
        Some(Item::Market { series: Some(exposure.series.clone()), date: exposure.last, known_at })
    };
    let memory = |given: &RecalledMemoryRow| (given.known_at > instant).then(|| memory_item(given));
    let item = |row: &DerivedRow| match row {
        DerivedRow::Exposure(exposure) => late(exposure),
        DerivedRow::Given(given) => memory(given),
        _ => None,
    };
    rows.get(path).into_iter().flatten().filter_map(item).collect()
}

/// A memory as an item.
pub(super) fn memory_item(given: &RecalledMemoryRow) -> Item {
    Item::Memory {
        kind: given.kind,
        id: given.memory_id.clone(),
        job: given.job.clone(),
        known_at: given.known_at,
    }
}

/// A finding for each step that read something from after its instant.
pub(super) fn late_reads(rows: &DerivedRows, day: &TradingDay) -> Vec<Finding> {
    let finding = |path: &StepPath| {
        let items = late_items(rows, path, day);
        let is_memory = items.iter().any(|item| matches!(item, Item::Memory { .. }));
        let instant = instant_of(path, day);
        let (kind, what) = match is_memory {
            true => (FindingKind::LateMemory, "recalled a memory"),
            false => (FindingKind::LateRead, "read data"),
        };
        (!items.is_empty()).then(|| Finding {
            kind,
            variants: Vec::new(),
            phase: Some(Phase::of(path)),
            path: Some(path.clone()),
            part: None,
            pointer: None,
            recorded: None,
            recomputed: None,
            items,
            message: format!("step {path} {what} from after its instant, {instant}"),
        })
    };
    rows.keys().filter_map(finding).collect()
}

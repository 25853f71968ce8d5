//! Shared helpers of the import tests.

use papertape_core::market::{Dataset, TradingHours};
use papertape_market::import::{ImportError, ImportOptions, ImportReport, Imported, Source, import};

/// Options of an import of US equities under this name.
pub(crate) fn options(name: &str) -> ImportOptions {
    ImportOptions {
        name: name.to_owned(),
        zone: TradingHours::US_ZONE.to_owned(),
        hours: TradingHours::us_equity(),
        currency: "USD".to_owned(),
        format: None,
        symbol: None,
        interval: None,
        basis: None,
    }
}

/// Sources with these names and texts.
pub(crate) fn files(files: &[(&str, &str)]) -> Vec<Source> {
    files.iter().map(|(name, text)| Source::bytes(*name, *text)).collect()
}

/// A strict import: all or nothing.
pub(crate) fn strict(sources: &[Source], options: &ImportOptions) -> Result<Imported, ImportError> {
    import(sources, options, None, &mut |_| {})
}

/// A lenient import; returns the dataset and the quarantined lines.
pub(crate) fn lenient(
    sources: &[Source],
    options: &ImportOptions,
) -> (Dataset, ImportReport, Vec<serde_json::Value>) {
    let mut quarantine = Vec::new();
    let imported =
        import(sources, options, Some(&mut quarantine), &mut |_| {}).expect("the rest is imported");
    let text = String::from_utf8(quarantine).expect("UTF-8");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a JSON object")).collect();
    (imported.dataset, imported.report, lines)
}

/// The rejections of a strict import, as displayed.
pub(crate) fn refusals(sources: &[Source], options: &ImportOptions) -> Vec<String> {
    match strict(sources, options) {
        Err(ImportError::Refused(report)) => report.refusals.iter().map(ToString::to_string).collect(),
        other => panic!("it was not refused: {other:?}"),
    }
}

/// A dataset's daily bars as text: symbol, day, open, high, low, close, volume.
pub(crate) fn bars(dataset: &Dataset) -> Vec<String> {
    let line = |symbol: &papertape_core::id::Symbol| {
        let bars = dataset.contents().bars(symbol);
        bars.into_iter()
            .map(move |bar| match bar.rest {
                Some(rest) => format!(
                    "{symbol} {} {} {} {} {} {}",
                    bar.date, bar.open, rest.high, rest.low, rest.close, rest.volume
                ),
                None => format!("{symbol} {} {}", bar.date, bar.open),
            })
            .collect::<Vec<_>>()
    };
    dataset.all_symbols().flat_map(line).collect()
}

//! Positions whose instrument has no more bars.

use papertape_core::broker::PositionSnapshot;
use papertape_core::market::{BarRange, Dataset, MarketView};
use papertape_core::time::Date;
use serde_json::{Value, json};

/// A position is stale after more than this many trading days in a row without a bar: shorter gaps are halts and
/// holidays.
const STALE_AFTER: usize = 5;

/// Adds a missing source to a session's metadata for each position that is stale at the close: it is valued at its
/// last close, and cannot be traded.
pub(crate) fn note(
    metadata: &mut Value,
    (dataset, at_close, date): (&Dataset, &MarketView<'_>, Date),
    held: &[PositionSnapshot],
) {
    for position in held {
        let newest = at_close.bars(&position.symbol, BarRange { limit: Some(1), ..BarRange::default() });
        let Some(last) = newest.ok().and_then(|bars| bars.value.first().map(|bar| bar.date)) else {
            continue;
        };
        let without = dataset.trading_days(last, date).len().saturating_sub(1);
        if without > STALE_AFTER {
            let text = format!("no bar since {last}, {without} trading days: valued at its last close");
            metadata["data_quality"]["sources_missing"][format!("price of {}", position.symbol)] =
                json!(text);
        }
    }
}

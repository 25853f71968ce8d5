//! Masked datasets: the same market under other names, on other days, at other prices.
//!
//! A masked dataset is derived from its source only: the same dataset and kind always give the same result. Prices are
//! scaled by a factor with two decimals per symbol, without rounding, and volumes by its inverse. Days are shifted by a
//! multiple of 364, so weekdays stay, and instants keep their local time.

mod companies;
mod derive;
mod draw;
mod names;
mod symbols;
mod text;

pub use derive::{MaskedDataset, mask, text_mask};
pub use text::TextMask;

use papertape_core::id::ContentHash;
use papertape_core::market::MaskKind;

/// The version of the rules. Other rules give other datasets, and older ones stay as they are.
pub(crate) const VERSION: u32 = 1;

/// The name of the masked form of a dataset.
pub(crate) fn name_of(source: ContentHash, kind: MaskKind) -> String {
    format!("masked-{kind}-{}", &source.to_hex()[..12])
}

#[cfg(test)]
mod tests;

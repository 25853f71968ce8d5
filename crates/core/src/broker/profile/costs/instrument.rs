//! Classes of instruments, derived from their symbols.

use crate::id::Symbol;
use serde::{Deserialize, Serialize};

/// Quote currencies and contract suffixes that can follow a base asset in a crypto symbol.
const QUOTES: [&str; 14] = [
    "", "USD", "USDT", "USDC", "BUSD", "FDUSD", "TUSD", "DAI", "EUR", "GBP", "JPY", "BTC", "PERP", "USDTPERP",
];

/// A class of instruments with its own costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstrumentClass {
    /// A fund of the mainland Chinese exchanges: 5xxxxx of Shanghai; 15xxxx, 16xxxx and 18xxxx of Shenzhen.
    Fund,
    /// A perpetual contract: the symbol ends with `PERP` or `SWAP`.
    Perpetual,
}

impl InstrumentClass {
    /// Whether the instrument belongs to this class.
    #[must_use]
    pub fn has(self, symbol: &Symbol) -> bool {
        let text = symbol.as_str().to_ascii_uppercase();
        match self {
            Self::Perpetual => text.ends_with("PERP") || text.ends_with("SWAP"),
            Self::Fund => {
                let digits: String = text.chars().filter(char::is_ascii_digit).collect();
                digits.len() == 6
                    && (digits.starts_with('5') || ["15", "16", "18"].iter().any(|p| digits.starts_with(p)))
            }
        }
    }
}

/// Whether `base` is the base asset of the symbol, as in `BTC`, `BTCUSDT`, `BTC-USD`, `BTC/USDT` and
/// `BTC-PERP`?
pub(super) fn is_base_asset(symbol: &Symbol, base: &str) -> bool {
    let text = symbol.as_str().to_ascii_uppercase();
    let Some(rest) = text.strip_prefix(&base.to_ascii_uppercase()) else { return false };
    if rest.starts_with(['-', '/', '_', ':']) {
        return true;
    }
    QUOTES.contains(&rest)
}

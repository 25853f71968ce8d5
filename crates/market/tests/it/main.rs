//! Integration tests of the market crate, one binary.

mod bundled;
mod catalogue;
mod download_alpha_vantage;
mod download_binance;
mod download_stooq;
mod download_support;
mod download_wire;
mod download_yahoo;
mod formats;
mod indexes;
mod indicators;
mod keeping;
#[path = "../../../core/tests/it/market_answers.rs"]
mod market_answers;
mod membership;
mod round_trip;
mod support;
mod times;

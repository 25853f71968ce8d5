//! Integration tests of the market crate, one binary.

mod bundled;
mod catalogue;
mod formats;
mod indicators;
mod keeping;
#[path = "../../../core/tests/it/market_answers.rs"]
mod market_answers;
mod round_trip;
mod support;

//! Integration tests of the market crate, one binary.

mod bundled;
mod catalogue;
mod formats;
mod indicators;
#[path = "../../../core/tests/it/market_answers.rs"]
mod market_answers;
mod support;

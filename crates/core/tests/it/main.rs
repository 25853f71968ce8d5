//! Integration tests of the core crate, one binary.

mod market_answers;
mod market_build;
mod market_calendar;
mod market_rows;
mod market_view;

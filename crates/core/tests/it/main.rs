//! Integration tests of the domain crate: one binary, a module a subject.

mod market_answers;
mod market_build;
mod market_calendar;
mod market_rows;
mod market_view;

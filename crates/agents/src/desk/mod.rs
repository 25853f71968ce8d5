//! The desk: analysts, a debate, a trader, a risk debate and a portfolio manager, for each symbol.

pub mod answer;
pub mod config;
pub mod fence;
pub mod sizing;
pub mod state;

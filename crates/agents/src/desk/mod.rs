//! The desk: analysts, a debate, a trader, a risk debate and a portfolio manager, for each symbol.

pub mod config;
pub mod state;

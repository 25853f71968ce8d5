//! The method, tested through the public API.

mod arch;
mod baseline;
mod known_answers;
mod probe;
mod probe_design;
mod series;
mod simulation;
mod support;
mod trials;
mod verdicts;

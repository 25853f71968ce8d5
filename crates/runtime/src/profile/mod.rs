//! Profiling: the timings of one run's nodes as a trace, made from the record, and cohorts of traces
//! compared with each other.
//!
//! Everything here is pure: rows and texts in, values out. Who reads files and who draws is the
//! command line's business. `docs/profiling.md` has each field with its unit.

pub mod ab;
pub mod cohort;
pub mod from_record;
pub mod invariant;
pub mod read;
pub mod stats;
pub mod trace;

//! The database as spans, over OTLP/HTTP with JSON bodies, which OpenTelemetry receivers accept.
//!
//! Spans are built from committed data once a session has ended; no run waits for them. Their IDs follow from
//! job, day, agent and path, so that sending a session twice creates no duplicates.

mod collect;
mod exporter;
mod mapping;
mod progress;
mod send;
mod span;

pub use collect::{spans_of, write_job};
pub use exporter::start;
pub use mapping::{SessionFacts, StepFacts, spans};
pub use span::{Attribute, Span, SpanKind, request};

//! The record as spans, by OTLP over HTTP with JSON bodies: what OpenTelemetry's receivers take.
//!
//! Spans are made of what is committed, once a session has ended; nothing of a run waits for them. Their
//! ids follow from job, day, agent and path, so that sending a session twice tells nothing twice.

mod exporter;
mod gather;
mod mapping;
mod progress;
mod send;
mod span;

pub use exporter::start;
pub use gather::{spans_of, write_job};
pub use mapping::{SessionFacts, StepFacts, spans};
pub use span::{Attribute, Span, SpanKind, request};

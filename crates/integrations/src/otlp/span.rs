//! A span and its OTLP JSON encoding.

use papertape_core::time::Timestamp;
use serde_json::{Value, json};

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A string.
    Text(String),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A boolean.
    Flag(bool),
}

/// The span's role, as in OTLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// An operation inside the process.
    Internal,
    /// A request to another service.
    Client,
}

/// One unit of work with its start and end.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The trace that it belongs to.
    pub trace: [u8; 16],
    /// Its own ID.
    pub id: [u8; 8],
    /// The parent span; `None`: the root of the trace.
    pub parent: Option<[u8; 8]>,
    /// The operation, with low cardinality.
    pub name: String,
    /// Its role.
    pub kind: SpanKind,
    /// When it started.
    pub start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
    /// Its attributes.
    pub attributes: Vec<(&'static str, Attribute)>,
    /// Why it failed; `None`: it did not.
    pub error: Option<String>,
}

impl Span {
    /// Adds an attribute if there is a value.
    pub fn set(&mut self, name: &'static str, value: impl Into<Option<Attribute>>) {
        if let Some(value) = value.into() {
            self.attributes.push((name, value));
        }
    }

    /// The span in OTLP's JSON encoding: IDs in hexadecimal, 64-bit numbers as strings, enums as numbers.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let attributes: Vec<Value> = self
            .attributes
            .iter()
            .map(|(key, value)| json!({ "key": key, "value": value.to_json() }))
            .collect();
        let mut span = json!({
            "traceId": hex(&self.trace),
            "spanId": hex(&self.id),
            "name": self.name,
            "kind": match self.kind { SpanKind::Internal => 1, SpanKind::Client => 3 },
            "startTimeUnixNano": nanos(self.start),
            "endTimeUnixNano": nanos(self.end.max(self.start)),
            "attributes": attributes,
            "status": match &self.error { Some(error) => json!({ "code": 2, "message": error }), None => json!({}) },
        });
        if let Some(parent) = &self.parent {
            span["parentSpanId"] = hex(parent).into();
        }
        span
    }
}

impl Attribute {
    fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => json!({ "stringValue": text }),
            Self::Int(number) => json!({ "intValue": number.to_string() }),
            Self::Float(number) => json!({ "doubleValue": number }),
            Self::Flag(flag) => json!({ "boolValue": flag }),
        }
    }
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Attribute {
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

/// The version of the semantic conventions that the attribute names follow.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.41.0";

/// A request to a receiver: spans of one resource, which is this product.
#[must_use]
pub fn request(spans: &[Span], mode: &str) -> Value {
    let text = |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "resourceSpans": [{
            "resource": { "attributes": [
                text("service.name", "papertape"),
                text("service.version", version),
                text("deployment.environment.name", mode),
            ] },
            "scopeSpans": [{
                "scope": { "name": "papertape.record", "version": version },
                "spans": spans.iter().map(Span::to_json).collect::<Vec<_>>(),
                "schemaUrl": SCHEMA,
            }],
            "schemaUrl": SCHEMA,
        }],
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn nanos(at: Timestamp) -> String {
    at.as_nanosecond().max(0).to_string()
}

//! A span, and how OTLP spells it in JSON.

use papertape_core::time::Timestamp;
use serde_json::{Value, json};

/// What an attribute says.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A text.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// Yes or no.
    Flag(bool),
}

/// What a span is to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Something within the process.
    Internal,
    /// A request to somebody else.
    Client,
}

/// One piece of work, with its beginning and its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// What it is part of.
    pub trace: [u8; 16],
    /// Itself.
    pub id: [u8; 8],
    /// The span that it stands in; `None`: the first of the trace.
    pub parent: Option<[u8; 8]>,
    /// What is done, with few different words.
    pub name: String,
    /// What it is to others.
    pub kind: SpanKind,
    /// When it began.
    pub start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
    /// What is known of it.
    pub attributes: Vec<(&'static str, Attribute)>,
    /// Why it failed; `None`: it did not.
    pub error: Option<String>,
}

impl Span {
    /// Adds an attribute, where there is something to say.
    pub fn say(&mut self, name: &'static str, value: impl Into<Option<Attribute>>) {
        if let Some(value) = value.into() {
            self.attributes.push((name, value));
        }
    }

    /// The span as OTLP's JSON has it: ids in hexadecimal, 64-bit numbers as texts, enums as numbers.
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

/// Which version of the conventions the attributes' names are of.
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

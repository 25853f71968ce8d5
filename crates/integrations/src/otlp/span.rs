//! Spans as OTLP messages, and the request that carries them.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans};

pub use opentelemetry_proto::tonic::trace::v1::Span;
pub(super) use opentelemetry_proto::tonic::trace::v1::span::SpanKind;

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Attribute(Value);

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        Self(Value::StringValue(text.to_owned()))
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Self {
        Self(Value::StringValue(text))
    }
}

impl From<i64> for Attribute {
    fn from(number: i64) -> Self {
        Self(Value::IntValue(number))
    }
}

impl From<u64> for Attribute {
    fn from(number: u64) -> Self {
        i64::try_from(number).unwrap_or(i64::MAX).into()
    }
}

impl From<f64> for Attribute {
    fn from(number: f64) -> Self {
        Self(Value::DoubleValue(number))
    }
}

impl From<bool> for Attribute {
    fn from(flag: bool) -> Self {
        Self(Value::BoolValue(flag))
    }
}

fn attribute(name: &str, value: impl Into<Attribute>) -> KeyValue {
    let value = Some(AnyValue { value: Some(value.into().0) });
    KeyValue { key: name.to_owned(), value, ..KeyValue::default() }
}

/// Sets attributes.
pub(super) trait SpanExt {
    /// Adds an attribute if there is a value.
    fn set(&mut self, name: &'static str, value: impl Into<Option<Attribute>>);
}

impl SpanExt for Span {
    fn set(&mut self, name: &'static str, value: impl Into<Option<Attribute>>) {
        if let Some(value) = value.into() {
            self.attributes.push(attribute(name, value));
        }
    }
}

/// The version of the semantic conventions that the attribute names follow.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.41.0";

/// A request to a receiver: spans of one resource, which is this product.
pub(super) fn request(spans: Vec<Span>, mode: &str) -> ExportTraceServiceRequest {
    let version = env!("CARGO_PKG_VERSION");
    let attributes = vec![
        attribute("service.name", "papertape"),
        attribute("service.version", version),
        attribute("deployment.environment.name", mode),
    ];
    let scope = InstrumentationScope {
        name: "papertape.record".to_owned(),
        version: version.to_owned(),
        ..InstrumentationScope::default()
    };
    ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans {
            resource: Some(Resource { attributes, ..Resource::default() }),
            scope_spans: vec![ScopeSpans { scope: Some(scope), spans, schema_url: SCHEMA.to_owned() }],
            schema_url: SCHEMA.to_owned(),
        }],
    }
}

//! Events of a job stream.

use crate::actions::LogEntry;
use papertape_core::part::EventPosition;
use papertape_core::record::JobStatus;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, OneOfBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

/// An event of a job stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StreamData {
    /// The job, as it was when the event was read from the record.
    pub job: StreamedJob,
    /// The row of the action log, in a `log_entry`; `null` if retention has removed it.
    pub log_entry: Option<LogEntry>,
    /// The event's position; send it as `after`, or as `Last-Event-ID`, to continue after it.
    pub cursor: Cursor,
    /// What happened, as references to rows of the database; `null` in a `snapshot`.
    pub event: Option<Value>,
}

/// A position in a job's stream: a number, or an opaque text in a job that is split into parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub EventPosition);

impl Serialize for Cursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_number() {
            Some(number) => serializer.serialize_i64(number),
            None => serializer.collect_str(&self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Cursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match Value::deserialize(deserializer)? {
            Value::String(text) => text,
            other => other.to_string(),
        };
        text.parse().map(Self).map_err(D::Error::custom)
    }
}

impl PartialSchema for Cursor {
    fn schema() -> RefOr<Schema> {
        OneOfBuilder::new()
            .item(
                ObjectBuilder::new()
                    .schema_type(Type::Integer)
                    .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64))),
            )
            .item(ObjectBuilder::new().schema_type(Type::String))
            .description(Some("A number; an opaque text in a job that is split into parts."))
            .into()
    }
}

impl ToSchema for Cursor {}

/// A job in its stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StreamedJob {
    /// The job.
    pub job_id: String,
    /// `simulate`.
    pub kind: String,
    /// `queued`, `running`, `completed`, `partial`, `failed` or `cancelled`.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// Why it stopped early.
    pub error: Option<String>,
}

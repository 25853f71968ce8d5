//! The words of statuses and roles, for the OpenAPI document.

use papertape_core::message::Role;
use papertape_core::record::{DayStatus, JobStatus};
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

/// A job's status.
#[must_use]
pub fn job_status() -> Object {
    use JobStatus::{Cancelled, Completed, Failed, Partial, Queued, Running};
    words(&[Queued, Running, Completed, Partial, Failed, Cancelled].map(JobStatus::as_str))
}

/// A model-day's status.
#[must_use]
pub fn day_status() -> Object {
    use DayStatus::{Completed, Failed, Queued, Running, Skipped};
    words(&[Queued, Running, Completed, Failed, Skipped].map(DayStatus::as_str))
}

/// Who speaks.
#[must_use]
pub fn role() -> Object {
    words(&[Role::User, Role::Assistant, Role::Tool].map(Role::as_str))
}

fn words(words: &[&'static str]) -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::String))
        .enum_values(Some(words.iter().copied()))
        .build()
}

//! The usage of an embedding request. Its vectors are passed on unread.

use crate::bounds;
use crate::wire::lenient::{self, Count};
use crate::wire::{WireError, parse, reported};
use papertape_core::message::Usage;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Response {
    /// `None`: these are not embeddings.
    #[serde(deserialize_with = "bounds::some_entries")]
    data: Option<Vec<IgnoredAny>>,
    usage: Option<Used>,
    error: Option<Box<RawValue>>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Used {
    prompt_tokens: Count,
}

pub(super) fn read(body: &[u8]) -> Result<Option<Usage>, WireError> {
    let response: Response = parse(body)?;
    match (response.data, response.error) {
        (Some(_), _) => Ok(response
            .usage
            .and_then(|used| lenient::usage(used.prompt_tokens, Count::Absent, Count::Absent))),
        (None, Some(error)) => Err(reported(&error)),
        (None, None) => Err(WireError::Unreadable),
    }
}

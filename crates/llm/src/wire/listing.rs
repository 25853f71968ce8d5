//! A provider's list of models.

use super::{Protocol, WireError, parse};
use crate::bounds;
use crate::config::ProviderKind;
use serde::Deserialize;

/// The models that a provider lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelList {
    /// The models' names, as used in requests.
    pub models: Vec<String>,
    /// Whether the list has all of the provider's models. Further pages are not fetched.
    pub is_complete: bool,
}

/// The path of the list below the base URL, with the query parameter for a long page.
pub(crate) const fn endpoint(kind: ProviderKind) -> (&'static str, Option<(&'static str, &'static str)>) {
    let page = match kind.protocol() {
        Protocol::ChatCompletions => None,
        Protocol::AnthropicMessages => Some(("limit", "1000")),
        Protocol::GeminiContent => Some(("pageSize", "1000")),
    };
    ("models", page)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Body {
    /// Chat completions and Anthropic.
    Data {
        data: Vec<Entry>,
        #[serde(default)]
        has_more: Option<bool>,
    },
    /// Gemini.
    Models {
        models: Vec<Entry>,
        #[serde(default, rename = "nextPageToken")]
        next: Option<String>,
    },
    /// Together.
    Bare(Vec<Entry>),
}

#[derive(Deserialize)]
struct Entry {
    id: Option<String>,
    name: Option<String>,
}

/// Parses the list.
///
/// # Errors
/// A body that is not a list of models.
pub(crate) fn read(body: &[u8]) -> Result<ModelList, WireError> {
    if body.len() > bounds::MAX_BODY_BYTES {
        return Err(bounds::Bound::Body.into());
    }
    let (entries, is_complete) = match parse(body)? {
        Body::Data { data, has_more } => (data, has_more != Some(true)),
        Body::Models { models, next } => (models, next.is_none_or(|next| next.is_empty())),
        Body::Bare(entries) => (entries, true),
    };
    let name = |entry: Entry| {
        let name = entry.id.or(entry.name)?;
        Some(name.strip_prefix("models/").map_or(name.clone(), str::to_owned))
    };
    Ok(ModelList { models: entries.into_iter().filter_map(name).collect(), is_complete })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(body: &str) -> (Vec<String>, bool) {
        let list = read(body.as_bytes()).expect("a list");
        (list.models, list.is_complete)
    }

    /// Goal: each protocol's list is parsed, including whether it has further pages; anything else is
    /// rejected.
    #[test]
    fn lists_of_every_protocol_are_read() {
        let names = |names: &[&str], all: bool| (names.iter().map(|&name| name.to_owned()).collect(), all);
        let cases = [
            (
                r#"{"object":"list","data":[{"id":"m-1","owned_by":"x"},{"id":"m-2"}]}"#,
                names(&["m-1", "m-2"], true),
            ),
            (
                r#"{"data":[{"type":"model","id":"c-1","display_name":"C"}],"has_more":true}"#,
                names(&["c-1"], false),
            ),
            (
                r#"{"models":[{"name":"models/g-1","version":"001"}],"nextPageToken":"x"}"#,
                names(&["g-1"], false),
            ),
            (r#"{"models":[{"name":"models/g-1"}]}"#, names(&["g-1"], true)),
            (r#"[{"id":"org/m","type":"chat"}]"#, names(&["org/m"], true)),
            (r#"{"data":[]}"#, names(&[], true)),
        ];
        for (body, expected) in cases {
            assert_eq!(listed(body), expected, "{body}");
        }
        for body in ["", "{}", "<html>", r#"{"data":7}"#, r#"{"data":["m"]}"#] {
            assert!(read(body.as_bytes()).is_err(), "{body}");
        }
    }
}

//! Web search, as the assistant uses it.

use crate::calls::CallResult;
use papertape_core::ports::BoxFuture;
use serde::{Deserialize, Serialize};

/// A search hit. All of it is untrusted text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// The page's title.
    pub title: String,
    /// Its URL.
    pub url: String,
    /// An excerpt of its text.
    pub text: String,
}

/// A web search service.
pub trait WebSearch: Send + Sync {
    /// Runs one search; at most `limit` hits, best first. If no service is configured, the error says so and what
    /// to configure.
    fn search<'a>(&'a self, query: &'a str, limit: u32) -> BoxFuture<'a, CallResult<Vec<Hit>>>;
}

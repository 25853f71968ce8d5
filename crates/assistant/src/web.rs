//! The web, as the assistant sees it.

use papertape_core::message::CallFailure;
use papertape_core::ports::BoxFuture;
use serde::{Deserialize, Serialize};

/// One thing that a search has found. All of it was written by others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// The page's title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// A part of its text.
    pub text: String,
}

/// A service that searches the web.
pub trait WebSearch: Send + Sync {
    /// Searches once; at most `limit` hits, the best first. Where no service is configured, the failure
    /// says so and what to configure.
    fn search<'a>(&'a self, query: &'a str, limit: u32) -> BoxFuture<'a, Result<Vec<Hit>, CallFailure>>;
}

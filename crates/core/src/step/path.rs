//! A step's path: `[symbol/]node#round/kind#n`, numbered in the program's order, never in the order of
//! arrival.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// A scope's name among its siblings: a node with its round, or a symbol.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ScopeKey {
    /// One instrument's part of a day.
    Symbol(String),
    /// A node of the graph or a phase of the day, with its 1-based round.
    Node(String, u32),
}

impl ScopeKey {
    /// A node in its first round.
    #[must_use]
    pub fn node(name: impl Into<String>) -> Self {
        Self::Node(name.into(), 1)
    }
}

impl fmt::Display for ScopeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `/` and `#` structure the path; they are escaped so that different names stay different.
        let clean = |name: &str| name.replace('%', "%25").replace('/', "%2F").replace('#', "%23");
        match self {
            Self::Symbol(symbol) => f.write_str(&clean(symbol)),
            Self::Node(name, round) => write!(f, "{}#{round}", clean(name)),
        }
    }
}

/// A step's path. Ordered by segments, numbers by value.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepPath(Arc<str>);

impl StepPath {
    /// Wraps a path read from the record.
    #[must_use]
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(Arc::from(text.as_ref()))
    }

    /// The nth step of a kind within a scope.
    #[must_use]
    pub fn of(scope: &str, kind: &str, n: u32) -> Self {
        let step = format!("{kind}#{n}");
        if scope.is_empty() { Self(Arc::from(step)) } else { Self(Arc::from(format!("{scope}/{step}"))) }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The step's kind: `model`, `tool`, `order`, … A call of the model endpoint is `model@DIGEST#n` in its path and of
    /// the kind `model`.
    #[must_use]
    pub fn kind(&self) -> &str {
        let last = self.0.rsplit('/').next().unwrap_or_default();
        last.split(['#', '@']).next().unwrap_or_default()
    }

    /// The step's scope, empty at the root.
    #[must_use]
    pub fn scope(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(scope, _)| scope)
    }

    /// The step's node (`Bull Researcher#1`), without the symbol.
    #[must_use]
    pub fn node(&self) -> &str {
        self.scope().rsplit('/').next().unwrap_or_default()
    }

    /// Whether it is in this scope or below.
    #[must_use]
    pub fn is_within(&self, scope: &str) -> bool {
        scope.is_empty() || self.0.strip_prefix(scope).is_some_and(|rest| rest.starts_with('/'))
    }
}

impl Ord for StepPath {
    fn cmp(&self, other: &Self) -> Ordering {
        fn segments(path: &StepPath) -> impl Iterator<Item = (&str, u32)> {
            path.0.split('/').map(|segment| match segment.rsplit_once('#') {
                Some((name, n)) => (name, n.parse().unwrap_or(0)),
                None => (segment, 0),
            })
        }
        segments(self).cmp(segments(other)).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for StepPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for StepPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for StepPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

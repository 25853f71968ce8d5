//! The graph of an agent's day: the order of its nodes, and so the nodes that a branch may cut at.
//!
//! A day is a partial order. Its phases follow each other; a desk's symbols do not depend on each other
//! until their orders are sized, and its analysts not until all of them have reported.

use crate::config::{AgentConfig, AgentKind, DeskConfig};
use crate::roles;
use papertape_core::market::Listed;
use papertape_core::tape::ScopeKey;
use std::collections::BTreeSet;

/// The scope before the session: corporate actions, and the orders of earlier days.
pub(crate) const PRE: &str = "pre#1";
/// The scope of a solo agent's conversation.
pub(crate) const SOLO: &str = "solo#1";
/// The scope of an external agent's requests.
pub(crate) const EXTERNAL: &str = "external#1";
/// The scope of its model calls, at the same time.
pub const DOOR: &str = "door#1";
/// The scope in which a desk's orders are sized and placed.
pub(crate) const SIZING: &str = "sizing#1";
/// The scope of the day's bar.
pub(crate) const BAR: &str = "bar#1";
/// The scope of the close.
pub(crate) const CLOSE: &str = "close#1";
/// The scope of the post phase, in which a model writes memories outside of the conversation.
pub const POST: &str = "post#1";

/// The graph of one agent's day.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Nodes at the root, in order; a desk's symbols are between `pre#1` and `sizing#1`.
    root: &'static [&'static str],
    /// A symbol's nodes with their ranks; nodes with the same rank run concurrently.
    nodes: Vec<(String, usize)>,
    /// The keys of a desk's symbols.
    symbols: BTreeSet<String>,
}

/// The position of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GraphPosition<'p> {
    /// A node at the root.
    Root(usize),
    /// A part of a symbol's analysis.
    Symbol { symbol: &'p str, part: GraphPart<'p> },
}

/// A part of a symbol's analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GraphPart<'p> {
    /// All of it.
    Whole,
    /// A node.
    Node(&'p str),
    /// A step outside of the nodes, which records their outcome.
    Outside,
}

/// The position of a desk's symbols among the nodes of the root.
const SYMBOLS_AT: usize = 1;

impl Graph {
    /// The graph of this agent's day. Only symbols that are listed that day have nodes.
    #[must_use]
    pub fn of(agent: &AgentConfig, symbols: &Listed) -> Self {
        match agent.kind {
            AgentKind::Solo => {
                let root: &[&str] = &[PRE, SOLO, BAR, CLOSE, POST];
                Self { root, nodes: Vec::new(), symbols: BTreeSet::new() }
            }
            AgentKind::External => {
                let root: &[&str] = &[PRE, EXTERNAL, BAR, CLOSE, POST];
                Self { root, nodes: Vec::new(), symbols: BTreeSet::new() }
            }
            AgentKind::Desk => {
                let config = agent.desk_config();
                Self {
                    root: &[PRE, "", SIZING, BAR, CLOSE, POST],
                    nodes: desk_nodes(&config),
                    symbols: symbols
                        .iter()
                        .map(|symbol| ScopeKey::Symbol(symbol.to_string()).to_string())
                        .collect(),
                }
            }
        }
    }

    /// The default cut of a branch: before the agent's first model call.
    #[must_use]
    pub fn default_cut(&self) -> &'static str {
        self.session().unwrap_or(PRE)
    }

    /// The node of a session that is one conversation.
    fn session(&self) -> Option<&'static str> {
        self.root.iter().copied().find(|node| [SOLO, EXTERNAL].contains(node))
    }

    /// The day's first node.
    #[must_use]
    pub fn start(&self) -> &'static str {
        self.root[0]
    }

    /// Checks a cut: a node, a symbol, or a step of one.
    ///
    /// # Errors
    /// A sentence that lists the possible cuts.
    pub fn check_cut(&self, at: &str) -> Result<(), String> {
        let numbered = |step: &str| {
            step.split_once('#')
                .is_some_and(|(kind, n)| !kind.is_empty() && !kind.contains('/') && n.parse::<u32>().is_ok())
        };
        let known = match self.position(at) {
            Some((GraphPosition::Root(_), step)) => step.is_none_or(numbered),
            Some((GraphPosition::Symbol { part, .. }, step)) => {
                part != GraphPart::Outside && step.is_none_or(numbered)
            }
            None => false,
        };
        if known {
            return Ok(());
        }
        let root = self.root.iter().filter(|node| !node.is_empty()).copied();
        Err(match self.symbols.first() {
            None => {
                let places = root.collect::<Vec<_>>().join(", ");
                let steps = match self.session() {
                    Some(EXTERNAL) => ", and steps as external#1/turn#3",
                    Some(_) => ", and steps as solo#1/model#3",
                    None => "",
                };
                format!("cannot branch at `{at}`; expected one of {places}{steps}")
            }
            Some(symbol) => format!(
                "cannot branch at `{at}`; expected one of {}, the symbols {}, their nodes as \
                 {symbol}/Trader#1 ({}), and steps as {symbol}/Trader#1/model#1",
                root.collect::<Vec<_>>().join(", "),
                self.symbols.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
                self.nodes.iter().map(|(node, _)| node.as_str()).collect::<Vec<_>>().join(", "),
            ),
        })
    }

    /// Whether the cut is a step, not a whole node or symbol.
    #[must_use]
    pub fn is_step(&self, at: &str) -> bool {
        self.position(at).is_none_or(|(_, step)| step.is_some())
    }

    /// Whether two paths are in the same node.
    #[must_use]
    pub fn is_same_node(&self, a: &str, b: &str) -> bool {
        let node = |path| self.position(path).map(|(position, _)| position);
        node(a).is_some() && node(a) == node(b)
    }

    /// Whether the node of a path is at or after the node of the cut. Unknown paths are after everything.
    #[must_use]
    pub fn is_at_or_after(&self, path: &str, cut: &str) -> bool {
        let (Some((path, _)), Some((cut, _))) = (self.position(path), self.position(cut)) else {
            return true;
        };
        match (path, cut) {
            (GraphPosition::Root(path), GraphPosition::Root(cut)) => path >= cut,
            (GraphPosition::Root(path), GraphPosition::Symbol { .. }) => path > SYMBOLS_AT,
            (GraphPosition::Symbol { .. }, GraphPosition::Root(cut)) => SYMBOLS_AT >= cut,
            (GraphPosition::Symbol { symbol, part }, GraphPosition::Symbol { symbol: of, part: cut }) => {
                symbol == of && self.follows(part, cut)
            }
        }
    }

    fn follows(&self, part: GraphPart<'_>, cut: GraphPart<'_>) -> bool {
        let rank = |node: &str| self.nodes.iter().find(|(known, _)| known == node).map(|(_, rank)| *rank);
        match (part, cut) {
            (_, GraphPart::Whole) | (GraphPart::Outside, _) => true,
            (GraphPart::Whole, _) | (GraphPart::Node(_), GraphPart::Outside) => false,
            (GraphPart::Node(node), GraphPart::Node(cut)) => node == cut || rank(node) > rank(cut),
        }
    }

    /// The position of a path, and the step in it; `None` for an unknown path.
    fn position<'p>(&self, path: &'p str) -> Option<(GraphPosition<'p>, Option<&'p str>)> {
        let (first, rest) = match path.split_once('/') {
            Some((first, rest)) => (first, Some(rest)),
            None => (path, None),
        };
        if first.is_empty() {
            return None;
        }
        // Model calls come between the requests of an external agent.
        let root = if first == DOOR { EXTERNAL } else { first };
        if let Some(at) = self.root.iter().position(|node| *node == root) {
            return Some((GraphPosition::Root(at), rest));
        }
        if !self.symbols.contains(first) {
            return None;
        }
        let Some(rest) = rest else {
            return Some((GraphPosition::Symbol { symbol: first, part: GraphPart::Whole }, None));
        };
        let (node, step) = match rest.split_once('/') {
            Some((node, step)) => (node, Some(step)),
            None => (rest, None),
        };
        if self.nodes.iter().any(|(known, _)| known == node) {
            return Some((GraphPosition::Symbol { symbol: first, part: GraphPart::Node(node) }, step));
        }
        Some((GraphPosition::Symbol { symbol: first, part: GraphPart::Outside }, Some(rest)))
    }
}

/// A symbol's nodes: the analysts with one rank, then one after the other.
fn desk_nodes(config: &DeskConfig) -> Vec<(String, usize)> {
    let key = |node: &str, round: u32| ScopeKey::Node(node.to_owned(), round).to_string();
    let analysts = roles::analysts(config).into_iter().map(|role| (key(role.node, 1), 0));
    let speakers = roles::speakers(config).into_iter().map(|(role, round)| key(role.node, round));
    analysts.chain(speakers.zip(1..)).collect()
}

//! The graph of an agent's day: what comes before what, and so where a branch may cut.
//!
//! A day is a partial order. Its phases follow each other; a desk's symbols do not depend on each other
//! until their orders are sized, and its analysts not until all of them have reported.

use crate::config::{AgentConfig, AgentKind};
use crate::day::POST;
use crate::desk::config::Analyst;
use crate::desk::roles;
use papertape_core::market::Listed;
use papertape_core::tape::ScopeKey;
use std::collections::BTreeSet;

/// The graph of one agent's day.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Nodes at the root, in order; the session's own place is between `pre#1` and `bar#1`.
    root: &'static [&'static str],
    /// A symbol's nodes with their ranks; nodes of one rank run side by side.
    nodes: Vec<(String, usize)>,
    /// The symbols' keys, of a desk.
    symbols: BTreeSet<String>,
}

/// Where a path stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GraphPosition<'p> {
    /// A node at the root.
    Root(usize),
    /// A part of a symbol's work.
    Symbol { symbol: &'p str, part: GraphPart<'p> },
}

/// A part of a symbol's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GraphPart<'p> {
    /// All of it, from its beginning.
    Whole,
    /// A node.
    Node(&'p str),
    /// A step beside the nodes, which sums up what they did.
    Beside,
}

/// The place of a desk's symbols among the nodes of the root.
const SYMBOLS_AT: usize = 1;

impl Graph {
    /// The graph of this agent's day on the symbols that are listed then: one that is not has no nodes.
    #[must_use]
    pub fn of(agent: &AgentConfig, symbols: &Listed) -> Self {
        match agent.kind {
            AgentKind::Solo => {
                let root: &[&str] = &["pre#1", "solo#1", "bar#1", "close#1", POST];
                Self { root, nodes: Vec::new(), symbols: BTreeSet::new() }
            }
            AgentKind::Desk => {
                let config = agent.desk_config();
                Self {
                    root: &["pre#1", "", "sizing#1", "bar#1", "close#1", POST],
                    nodes: desk_nodes(
                        &config.selected_analysts,
                        config.max_debate_rounds,
                        config.max_risk_discuss_rounds,
                    ),
                    symbols: symbols
                        .iter()
                        .map(|symbol| ScopeKey::Symbol(symbol.to_string()).to_string())
                        .collect(),
                }
            }
        }
    }

    /// Where a branch cuts that is told nothing else: before all that the agent thinks.
    #[must_use]
    pub fn usual_cut(&self) -> &'static str {
        if self.is_solo() { "solo#1" } else { "pre#1" }
    }

    /// One conversation, and no symbols?
    fn is_solo(&self) -> bool {
        self.root.contains(&"solo#1")
    }

    /// The day's first node.
    #[must_use]
    pub fn start(&self) -> &'static str {
        self.root[0]
    }

    /// Checks a cut: a node, a symbol, or a step of either.
    ///
    /// # Errors
    /// A sentence that lists what can be cut at.
    pub fn check_cut(&self, at: &str) -> Result<(), String> {
        let numbered = |step: &str| {
            step.split_once('#')
                .is_some_and(|(kind, n)| !kind.is_empty() && !kind.contains('/') && n.parse::<u32>().is_ok())
        };
        let known = match self.place(at) {
            Some((GraphPosition::Root(_), step)) => step.is_none_or(numbered),
            Some((GraphPosition::Symbol { part, .. }, step)) => {
                part != GraphPart::Beside && step.is_none_or(numbered)
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
                let steps = if self.is_solo() { ", and steps as solo#1/model#3" } else { "" };
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

    /// Is the cut a step, and not a whole node or symbol?
    #[must_use]
    pub fn is_step(&self, at: &str) -> bool {
        self.place(at).is_none_or(|(_, step)| step.is_some())
    }

    /// Do two paths stand in one node?
    #[must_use]
    pub fn is_same_node(&self, a: &str, b: &str) -> bool {
        let place = |path| self.place(path).map(|(place, _)| place);
        place(a).is_some() && place(a) == place(b)
    }

    /// Does the node of a path come at or after the node of the cut? What the graph does not know comes
    /// after everything.
    #[must_use]
    pub fn is_at_or_after(&self, path: &str, cut: &str) -> bool {
        let (Some((path, _)), Some((cut, _))) = (self.place(path), self.place(cut)) else { return true };
        match (path, cut) {
            (GraphPosition::Root(path), GraphPosition::Root(cut)) => path >= cut,
            (GraphPosition::Root(path), GraphPosition::Symbol { .. }) => path > SYMBOLS_AT,
            (GraphPosition::Symbol { .. }, GraphPosition::Root(cut)) => SYMBOLS_AT >= cut,
            (GraphPosition::Symbol { symbol, part }, GraphPosition::Symbol { symbol: of, part: cut }) => {
                symbol == of && self.follows(part, cut)
            }
        }
    }

    /// Within one symbol.
    fn follows(&self, part: GraphPart<'_>, cut: GraphPart<'_>) -> bool {
        let rank = |node: &str| self.nodes.iter().find(|(known, _)| known == node).map(|(_, rank)| *rank);
        match (part, cut) {
            (_, GraphPart::Whole) | (GraphPart::Beside, _) => true,
            (GraphPart::Whole, _) | (GraphPart::Node(_), GraphPart::Beside) => false,
            (GraphPart::Node(node), GraphPart::Node(cut)) => node == cut || rank(node) > rank(cut),
        }
    }

    /// The place of a path, and the step in it. `None` for what is no place of this graph.
    fn place<'p>(&self, path: &'p str) -> Option<(GraphPosition<'p>, Option<&'p str>)> {
        let (first, rest) = match path.split_once('/') {
            Some((first, rest)) => (first, Some(rest)),
            None => (path, None),
        };
        if first.is_empty() {
            return None;
        }
        if let Some(at) = self.root.iter().position(|node| *node == first) {
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
        Some((GraphPosition::Symbol { symbol: first, part: GraphPart::Beside }, Some(rest)))
    }
}

/// A symbol's nodes: the analysts of one rank, then one after the other.
fn desk_nodes(analysts: &BTreeSet<Analyst>, debate: u32, risk: u32) -> Vec<(String, usize)> {
    let key = |node: &str, round: u32| ScopeKey::Node(node.to_owned(), round).to_string();
    let mut nodes: Vec<(String, usize)> =
        roles::analysts(analysts).iter().map(|role| (key(role.seat().node, 1), 0)).collect();
    let rest = roles::sequence(debate, risk).into_iter().map(|(node, round)| key(node, round));
    nodes.extend(rest.zip(1..));
    nodes
}

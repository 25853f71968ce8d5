//! The nodes of a session as one table, for readers that draw a session or ask whose a step is.

use crate::config::LlmKind;
use crate::graph::{BAR, CLOSE, EXTERNAL, POST, PRE, SIZING, SOLO};
use crate::roles::{ROLES, RoleKind, RoleSpec};

/// A node of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionNode {
    /// Its name in a path, without symbol and round: `close`, `Bull Researcher`.
    pub name: &'static str,
    /// `books`: the broker fills orders and values positions. `solo`: a solo agent's conversation.
    /// `external`: an external agent's requests. A phase of the desk,
    /// such as `research`. `orders`: a desk's orders are sized. `memory`: memories are written after the close.
    pub phase: &'static str,
    /// Its place among the nodes. Debaters share one: they take turns.
    pub order: u32,
    /// Of a desk's role: its model.
    pub llm: Option<LlmKind>,
    /// Whether its last message is the agent's decision.
    pub decides: bool,
}

/// All nodes that sessions have, in the order of the day.
#[must_use]
pub fn session_nodes() -> Vec<SessionNode> {
    let node = |path: &'static str, phase: &'static str| SessionNode {
        name: path.split('#').next().unwrap_or(path),
        phase,
        order: 0,
        llm: None,
        decides: [SOLO, EXTERNAL].contains(&path),
    };
    let before =
        [node(PRE, "books"), node(SOLO, "solo"), node(EXTERNAL, "external")].map(|node| (node, None));
    let after = [node(SIZING, "orders"), node(BAR, "books"), node(CLOSE, "books"), node(POST, "memory")];
    let all = before.into_iter().chain(ROLES.iter().map(role)).chain(after.map(|node| (node, None)));
    let mut nodes: Vec<SessionNode> = Vec::new();
    let (mut order, mut debate) = (0, None);
    for (node, of_debate) in all {
        if !nodes.is_empty() && (of_debate.is_none() || of_debate != debate) {
            order += 1;
        }
        debate = of_debate;
        nodes.push(SessionNode { order, ..node });
    }
    nodes
}

/// A role's node, and the debate that it takes part in.
fn role(role: &RoleSpec) -> (SessionNode, Option<&'static str>) {
    let phase = role.phase.as_str();
    let is_debater = matches!(role.kind, RoleKind::Researcher(_) | RoleKind::RiskAnalyst(_));
    let node = SessionNode {
        name: role.node,
        phase,
        order: 0,
        llm: Some(role.llm),
        decides: role.kind == RoleKind::PortfolioManager,
    };
    (node, is_debater.then_some(phase))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the table has every role and every phase of the day once, debaters share a place, and one role of a desk
    /// decides.
    #[test]
    fn the_table_is_complete() {
        let nodes = session_nodes();
        let order = |name: &str| nodes.iter().find(|node| node.name == name).map(|node| node.order);
        assert_eq!(nodes.len(), ROLES.len() + 7);
        assert!(nodes.windows(2).all(|pair| pair[0].order <= pair[1].order));
        assert_eq!(order("Bull Researcher"), order("Bear Researcher"));
        assert_eq!(order("Aggressive Analyst"), order("Neutral Analyst"));
        assert!(order("Bear Researcher") < order("Research Manager"));
        assert!(order("Market Analyst") < order("News Analyst"), "analysts do not take turns");
        assert_eq!((order("pre"), nodes[nodes.len() - 1].name), (Some(0), "post"));
        let decide: Vec<&str> = nodes.iter().filter(|node| node.decides).map(|node| node.name).collect();
        assert_eq!(decide, ["solo", "external", "Portfolio Manager"]);
        let books: Vec<&str> =
            nodes.iter().filter(|node| node.phase == "books").map(|node| node.name).collect();
        assert_eq!(books, ["pre", "bar", "close"]);
    }
}

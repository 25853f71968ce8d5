//! The words of a session's decisions.

use crate::app::App;
use crate::error::ServiceError;
use papertape_agents::nodes::session_nodes;
use papertape_core::record::SessionId;
use papertape_core::step::ScopeKey;
use papertape_protocol::results::head::DecisionText;
use std::collections::BTreeSet;

/// Messages that are read at once, from the newest on.
const PAGE: u32 = 50;

/// The last text of the node that decides in a session of this kind of agent; of a desk, on each of these instruments.
pub(super) async fn decision_texts(
    app: &App,
    session: SessionId,
    agent_kind: &str,
    symbols: &[String],
) -> Result<Vec<DecisionText>, ServiceError> {
    let is_desk = agent_kind == "desk";
    let decides = session_nodes()
        .into_iter()
        .find(|node| node.decides && node.llm.is_some() == is_desk && (is_desk || node.phase == agent_kind));
    let Some(node) = decides else { return Ok(Vec::new()) };
    let mut found: Vec<DecisionText> = Vec::new();
    let mut missing: BTreeSet<Option<&str>> = if is_desk {
        symbols.iter().map(|symbol| Some(symbol.as_str())).collect()
    } else {
        BTreeSet::from([None])
    };
    let mut before = None;
    while !missing.is_empty() {
        let page = app.store.last_words(session, node.name, before, PAGE).await?;
        let Some(oldest) = page.last() else { break };
        before = Some(oldest.message_index);
        for message in page.into_iter().filter(|message| !message.content.trim().is_empty()) {
            let scope =
                is_desk.then(|| message.path.scope().split_once('/').map(|(symbol, _)| symbol.to_owned()));
            let own = |symbol: &Option<&str>| {
                symbol.map(|symbol| ScopeKey::Symbol(symbol.to_owned()).to_string())
                    == scope.clone().flatten()
            };
            let Some(symbol) = missing.iter().copied().find(own) else { continue };
            missing.remove(&symbol);
            found.push(DecisionText {
                symbol: symbol.map(str::to_owned),
                path: message.path.to_string(),
                content: message.content,
            });
        }
    }
    found.sort_by(|a, b| a.symbol.cmp(&b.symbol));
    Ok(found)
}

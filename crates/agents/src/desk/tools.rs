//! The analysts' tools: those of the market view, a subset per role. Their results are shown as data.

use crate::tools::{self, ToolOutput, calculate, facts, market, snapshot};
use papertape_core::market::MarketView;
use papertape_core::message::{ToolCall, ToolSpec};
use papertape_core::tape::{Ctx, SessionStop, ToolInvocation};

/// The specs of the tools with these names over the view.
pub(crate) fn specs(view: &MarketView<'_>, names: &[&str]) -> Vec<ToolSpec> {
    let mut all = vec![
        snapshot::tool(),
        facts::statements_tool(),
        facts::profile_tool(),
        facts::macro_tool(),
        calculate::tool(),
    ];
    all.extend(market::tools(&view.all_intervals()));
    names.iter().filter_map(|name| all.iter().find(|tool| tool.name == *name).cloned()).collect()
}

/// The result of a tool call.
pub(crate) struct ToolResult {
    /// The text for the model.
    pub(crate) content: String,
    /// The requested source that was not available, with the reason.
    pub(crate) missing: Option<(String, String)>,
}

/// Runs one call of an analyst with the tools `names` and their specs.
///
/// # Errors
/// A stop.
pub(crate) async fn run(
    ctx: &mut Ctx,
    view: &MarketView<'_>,
    (names, specs): (&[&str], &[ToolSpec]),
    call: &ToolCall,
) -> Result<ToolResult, SessionStop> {
    let note = ToolInvocation { name: call.name.clone(), input: call.arguments.clone() };
    let invalid = crate::tools::unknown_arguments(specs, call, &[]);
    let output = match names.contains(&call.name.as_str()) {
        true => invalid.or_else(|| read(view, call)),
        false => None,
    };
    let output = output.unwrap_or_else(|| {
        ToolOutput::error(format!("unknown tool `{}`; expected one of {}", call.name, names.join(", ")))
    });
    let reason = || output.value["error"].as_str().unwrap_or_default().to_owned();
    let missing = output.missing.clone().map(|source| (source, reason()));
    let content = tools::answer(ctx, view, note, output).await?;
    Ok(ToolResult { content, missing })
}

fn read(view: &MarketView<'_>, call: &ToolCall) -> Option<ToolOutput> {
    match call.name.as_str() {
        "get_snapshot" => Some(snapshot::run(view, &call.arguments)),
        "calculate" => Some(calculate::run(&call.arguments)),
        name => market::run(view, name, &call.arguments).or_else(|| facts::run(view, name, &call.arguments)),
    }
}

//! `papertape import ai-trader`

use super::prices::{self, DatasetRequest};
use super::{Group, ImportPlan, dry_run_all, finish, warnings};
use anyhow::{Context as _, Result};
use papertape_cli::data::Exchange;
use papertape_cli::failure::usage;
use papertape_cli::import::AiTraderArgs;
use papertape_cli::{Common, Outcome};
use papertape_core::broker::MarketProfile;
use papertape_integrations::ai_trader::{self, Layout};
use papertape_integrations::imports::RunReport;
use papertape_market::Catalogue;
use papertape_market::import::Source;
use papertape_service::config::Config;

/// Imports the runs, or reports what would be imported.
pub(super) async fn import(common: &Common, config: Config, args: AiTraderArgs) -> Outcome {
    let layout = ai_trader::find(&args.dir).map_err(|error| usage(error.to_string()))?;
    check_names(&layout, &args)?;
    let mut report = RunReport { skips_unreadable: args.skip_unreadable, ..RunReport::default() };
    for (file, reason) in &layout.skipped {
        report.skip(file, reason);
    }
    let market = market(args.exchange)?;
    let catalogue = Catalogue::at(config.datasets_dir());
    if args.dataset.is_none() && layout.prices.is_empty() {
        let dir = args.dir.display();
        return Err(usage(format!(
            "no merged.jsonl or daily_prices_*.json in {dir}; name a dataset with --dataset"
        )));
    }
    let request = DatasetRequest {
        existing: args.dataset.as_deref(),
        name: &args.name,
        exchange: args.exchange,
        basis: None,
    };
    let sources: Vec<Source> = layout.prices.iter().map(Source::file).collect();
    let dataset = prices::dataset(&catalogue, &request, &sources, &mut report)?;
    let mut groups = Vec::new();
    if let Some(dataset) = &dataset {
        let agents = ai_trader::read(&layout, dataset, &args.agents, &mut report)?;
        dry_run_all(dataset, &market, &agents, &mut report).await?;
        report.reject(args.options.accept_disagreements);
        let source = args.dir.display().to_string();
        groups.push(Group { agents, market, source, warnings: warnings(&report, None) });
    }
    let new_dataset = args.dataset.is_none().then(|| args.exchange.defaults().3);
    let plan = ImportPlan { format: ai_trader::FORMAT, report, dataset, new_dataset, groups };
    finish(common, config, plan, &args.options).await
}

/// Checks that the named agents exist.
fn check_names(layout: &Layout, args: &AiTraderArgs) -> Result<()> {
    let known: Vec<&str> = layout.agents.iter().map(|agent| agent.name.as_str()).collect();
    if known.is_empty() {
        let dir = args.dir.display();
        return Err(usage(format!("no AGENT/position/position.jsonl in {dir} or {dir}/agent_data")));
    }
    match args.agents.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => {
            Err(usage(format!("--agent: unknown agent `{name}`; expected one of {}", known.join(", "))))
        }
        None => Ok(()),
    }
}

/// The exchange's rules in AI-Trader: no fees, no margin, and no limits by volume or price.
fn market(exchange: Exchange) -> Result<MarketProfile> {
    let name = exchange.defaults().3;
    let preset = MarketProfile::preset(name).with_context(|| format!("unknown market {name}"))?;
    Ok(MarketProfile { board_lots: Vec::new(), ..preset.frictionless().without_price_limits() })
}

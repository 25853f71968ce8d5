//! `papertape import tradingagents`

use super::prices::{self, DatasetRequest};
use super::{Group, ImportPlan, dry_run_all, finish, warnings};
use papertape_cli::data::Exchange;
use papertape_cli::failure::usage;
use papertape_cli::import::TradingAgentsArgs;
use papertape_cli::{Common, Outcome};
use papertape_core::broker::MarketProfile;
use papertape_core::money::Money;
use papertape_integrations::imports::RunReport;
use papertape_integrations::tradingagents;
use papertape_market::Catalogue;
use papertape_service::config::Config;
use rust_decimal::Decimal;

/// Imports the analyses, or reports what would be imported.
pub(super) async fn import(common: &Common, config: Config, args: TradingAgentsArgs) -> Outcome {
    if args.initial_cash < Decimal::ZERO {
        return Err(usage("--initial-cash: it must not be below 0"));
    }
    let name = args.agent.trim();
    if name.is_empty() || name.len() > 200 || name.chars().any(char::is_control) {
        return Err(usage("--agent: an agent's name must have 1 to 200 characters"));
    }
    let mut report = RunReport { skips_unreadable: args.skip_unreadable, ..RunReport::default() };
    let layout = tradingagents::find(&args.dir, &mut report).map_err(|error| usage(error.to_string()))?;
    if layout.is_empty() && report.problems.count == 0 {
        let dir = args.dir.display();
        return Err(usage(format!(
            "no full_states_log_DATE.json, trading_memory.md or output of a backtest in {dir}"
        )));
    }
    let catalogue = Catalogue::at(config.datasets_dir());
    let request = DatasetRequest {
        existing: Some(&args.dataset),
        name: &args.dataset,
        exchange: Exchange::Us,
        basis: None,
    };
    let dataset = prices::dataset(&catalogue, &request, &[], &mut report)?;
    let market = MarketProfile::us_equity().frictionless().without_price_limits();
    let mut groups = Vec::new();
    if let Some(dataset) = &dataset {
        let agent = (name, Money(args.initial_cash));
        let agents: Vec<_> = tradingagents::read(&layout, dataset, agent, &mut report).into_iter().collect();
        dry_run_all(dataset, &market, &agents, &mut report).await?;
        report.reject(args.options.accept_disagreements);
        let mut warnings = warnings(&report, None);
        warnings.push(
            "its files have no account and no trades: the cash of its sessions is the one given at the import, 0 by \
             default, and no order is placed"
                .to_owned(),
        );
        let source = args.dir.display().to_string();
        groups.push(Group { agents, market, source, warnings });
    }
    let plan = ImportPlan { format: tradingagents::FORMAT, report, dataset, new_dataset: None, groups };
    finish(common, config, plan, &args.options).await
}

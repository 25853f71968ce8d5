//! `papertape import stockbench`

use super::prices::{self, DatasetRequest};
use super::{Group, ImportPlan, dry_run_all, finish, warnings};
use anyhow::Result;
use papertape_cli::data::Exchange;
use papertape_cli::failure::usage;
use papertape_cli::import::StockBenchArgs;
use papertape_cli::{Common, Outcome};
use papertape_core::broker::{Fees, MarketProfile};
use papertape_core::market::Dataset;
use papertape_core::money::Money;
use papertape_integrations::imports::RunReport;
use papertape_integrations::stockbench::{self, Layout, Run};
use papertape_market::Catalogue;
use papertape_market::import::{Basis, Source};
use papertape_service::config::Config;
use rust_decimal::Decimal;

/// Imports the runs and the data, or reports what would be imported.
pub(super) async fn import(common: &Common, config: Config, args: StockBenchArgs) -> Outcome {
    if args.initial_cash.is_some_and(|cash| cash <= Decimal::ZERO) {
        return Err(usage("--initial-cash: it must be above 0"));
    }
    let mut report = RunReport::default();
    let layout = stockbench::find(&args.dir, args.data.as_deref(), &mut report)
        .map_err(|error| usage(error.to_string()))?;
    check(&layout, &args)?;
    let sources = sources(&layout, &args, &mut report)?;
    let catalogue = Catalogue::at(config.datasets_dir());
    // StockBench stores prices that are adjusted for splits.
    let request = DatasetRequest {
        existing: args.dataset.as_deref(),
        name: &args.name,
        exchange: Exchange::Us,
        basis: Some(Basis::SplitAdjusted),
    };
    let has_prices = args.dataset.is_some() || !sources.is_empty();
    let dataset =
        if has_prices { prices::dataset(&catalogue, &request, &sources, &mut report)? } else { None };
    let mut groups = Vec::new();
    if let Some(dataset) = &dataset {
        let mut runs = Vec::new();
        for folder in &layout.runs {
            if args.agents.is_empty() || args.agents.contains(&folder.name) {
                let cash = args.initial_cash.map(Money);
                runs.extend(stockbench::read(folder, dataset, cash, &mut report));
            } else {
                report.skip(&folder.name, "not among the requested runs");
            }
        }
        for run in &runs {
            dry_run(dataset, run, &mut report).await?;
        }
        report.reject(args.options.accept_disagreements);
        let source = args.dir.display().to_string();
        groups.extend(runs.into_iter().map(|run| {
            let (name, market) = (run.folder.name.clone(), market(&run));
            let warnings = warnings(&report, Some(&name));
            Group { agents: vec![run.agent], market, source: source.clone(), warnings }
        }));
    }
    let new_dataset = args.dataset.is_none().then(|| Exchange::Us.defaults().3);
    let plan = ImportPlan { format: stockbench::FORMAT, report, dataset, new_dataset, groups };
    finish(common, config, plan, &args.options).await
}

/// Checks that there is something to import, and that the named runs exist.
fn check(layout: &Layout, args: &StockBenchArgs) -> Result<()> {
    let dir = args.dir.display();
    if layout.storage.is_none() && args.dataset.is_none() {
        return Err(usage(match &args.data {
            Some(data) => format!("no folder `parquet` in {0} or {0}/storage", data.display()),
            None => format!(
                "no storage with a folder `parquet` in or above {dir}; give it with --data, or a dataset with --dataset"
            ),
        }));
    }
    if layout.runs.is_empty() && args.dataset.is_some() {
        return Err(usage(format!("no run with daily_nav.parquet in {dir}")));
    }
    let known: Vec<&str> = layout.runs.iter().map(|run| run.name.as_str()).collect();
    match args.agents.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => {
            Err(usage(format!("--agent: unknown run `{name}`; expected one of {}", known.join(", "))))
        }
        None => Ok(()),
    }
}

/// The files of a new dataset.
fn sources(layout: &Layout, args: &StockBenchArgs, report: &mut RunReport) -> Result<Vec<Source>> {
    let (Some(storage), None) = (&layout.storage, &args.dataset) else { return Ok(Vec::new()) };
    let data = stockbench::data_files(storage, report)?;
    if data.symbols == 0 && report.problems.count == 0 {
        return Err(usage(format!("no prices that can be imported in {}", storage.display())));
    }
    if data.symbols == 0 { Ok(Vec::new()) } else { Ok(data.sources) }
}

/// The rules of StockBench: fractional shares at the day's open, a commission, no margin. Its slippage changes only the
/// average price that it shows, not its cash.
fn market(run: &Run) -> MarketProfile {
    let fees = Fees { bps: run.commission_bps, minimum: Money::ZERO };
    let preset = MarketProfile::us_equity().frictionless().without_price_limits();
    MarketProfile { fractional: true, fees, board_lots: Vec::new(), ..preset }
}

/// Runs a run's days without storing them, and compares its NAV and metrics with the result.
async fn dry_run(dataset: &Dataset, run: &Run, report: &mut RunReport) -> Result<()> {
    let agents = std::slice::from_ref(&run.agent);
    let outcomes = dry_run_all(dataset, &market(run), agents, report).await?;
    for days in &outcomes {
        stockbench::compare(run, days, report);
    }
    Ok(())
}

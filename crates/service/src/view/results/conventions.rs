//! The market conventions of a run: fill prices, costs and limits.

use super::super::Configs;
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::broker::{
    Board, FeeBasis, FeeSide, FillModel, FillTiming, InstrumentClass, MarketProfile,
};
use papertape_core::id::{JobId, Symbol};
use papertape_core::market::Dataset;
use papertape_core::time::Date;
use papertape_protocol::number::number;
use papertape_protocol::results::conventions::category;
use papertape_protocol::results::conventions::{ConventionsResponse, FeeResponse, SlippageResponse};
use papertape_runtime::config::SimulationConfig;
use rust_decimal::Decimal;

/// The maximum number of symbols that a note lists.
const MAX_NAMED: usize = 8;

/// The conventions of a job on one day, without the notes that need its dataset. `None`: the job has no market.
///
/// # Errors
/// A database error.
pub async fn conventions_of(
    app: &App,
    job: &JobId,
    day: Date,
) -> Result<Option<ConventionsResponse>, ServiceError> {
    let mut configs = Configs::default();
    Ok(configs.of(app, job).await?.map(|config| conventions(config, None, (day, day))))
}

/// The conventions of a job on one day.
pub(super) fn conventions_on(app: &App, config: &SimulationConfig, day: Date) -> ConventionsResponse {
    let dataset = app.services.datasets.open(config.dataset.hash).ok();
    conventions(config, dataset.as_deref(), (day, day))
}

/// The conventions of a job over some days.
pub(super) fn conventions(
    config: &SimulationConfig,
    dataset: Option<&Dataset>,
    (first, last): (Date, Date),
) -> ConventionsResponse {
    let market = &config.market;
    let fees = fees(market, (first, last));
    let mut notes = Vec::new();
    if let Some(imported) = &config.imported {
        notes.push(format!(
            "imported from {}: its orders keep the convention of their source, and cost what they cost there",
            imported.format
        ));
    }
    if let Some(dataset) = dataset {
        notes.extend(volume_note(config, dataset));
    }
    if !market.price_limits.is_empty() {
        notes.extend(limit_notes(config, dataset));
    }
    if fees.iter().any(|fee| fee.approximate) {
        notes.push("some rates of these days are approximate".to_owned());
    }
    let costs = if market.is_frictionless() { "frictionless" } else { "market" };
    let mut answer = ConventionsResponse {
        market: market.name.clone(),
        costs: costs.to_owned(),
        imported_from: config.imported.as_ref().map(|imported| imported.format.clone()),
        universe: config.universe.clone(),
        fill: word(market.fill_model),
        fill_label: label(market.fill_model).to_owned(),
        slippage: slippage(market),
        fees,
        annual_borrow_bps: if market.shorting {
            number(market.short_borrow_bps())
        } else {
            number(Decimal::ZERO)
        },
        annual_financing_bps: if market.lends {
            number(market.annual_financing_bps)
        } else {
            number(Decimal::ZERO)
        },
        dividend_withholding_pct: number(market.dividend_withholding_pct),
        participation_pct: market.participation.map(|rule| number(rule.share_pct)),
        participation_bars: market.participation.map(|rule| rule.bars),
        has_price_limits: !market.price_limits.is_empty(),
        notes,
        summary: String::new(),
    };
    answer.summary = answer.paragraph();
    answer
}

fn word(fill: FillModel) -> String {
    match fill {
        FillModel::Open => "open",
        FillModel::NextOpen => "next_open",
        FillModel::Close => "close",
    }
    .to_owned()
}

/// The fill convention in words.
pub(super) fn label(fill: FillModel) -> &'static str {
    match fill {
        FillModel::Open => "shown open",
        FillModel::NextOpen => "next open",
        FillModel::Close => "close",
    }
}

fn slippage(market: &MarketProfile) -> Vec<SlippageResponse> {
    let timing: FillTiming = market.fill_model.into();
    let mut rules: Vec<SlippageResponse> = Vec::new();
    for rule in market.slippage.iter().filter(|rule| rule.fill.is_none_or(|fill| fill == timing)) {
        rules.push(SlippageResponse { symbols: rule.symbols.clone(), bps: number(rule.bps) });
        if rule.symbols.is_empty() {
            return rules;
        }
    }
    rules.push(SlippageResponse { symbols: Vec::new(), bps: number(market.slippage_bps) });
    rules
}

fn fees(market: &MarketProfile, (first, last): (Date, Date)) -> Vec<FeeResponse> {
    let class = |class: &InstrumentClass| match class {
        InstrumentClass::Fund => "fund".to_owned(),
        InstrumentClass::Perpetual => "perpetual".to_owned(),
    };
    let flat = &market.fees;
    let is_flat = !flat.bps.is_zero() || flat.minimum.is_positive();
    let flat = is_flat.then(|| FeeResponse {
        name: "fee".to_owned(),
        category: "commission".to_owned(),
        basis: "bps".to_owned(),
        side: "both".to_owned(),
        rate: number(flat.bps),
        minimum: Some(number(flat.minimum.0)).filter(|minimum| !minimum.is_zero()),
        maximum: None,
        maximum_bps: None,
        effective_from: None,
        only: None,
        except: Vec::new(),
        approximate: false,
        unverified: false,
    });
    let mut answers: Vec<FeeResponse> = flat.into_iter().collect();
    for schedule in &market.fee_schedule {
        let starts = schedule.bands.iter().map(|band| band.effective_from);
        let ends = starts.clone().skip(1).chain([None]);
        for (band, ends) in schedule.bands.iter().zip(ends) {
            let has_begun = band.effective_from.is_none_or(|from| from <= last);
            if !has_begun || ends.is_some_and(|end| end <= first) {
                continue;
            }
            answers.push(FeeResponse {
                name: schedule.name.clone(),
                category: category(schedule.category).to_owned(),
                basis: match schedule.basis {
                    FeeBasis::PerShare => "per_share",
                    FeeBasis::Bps => "bps",
                    FeeBasis::PerMillion => "per_million",
                }
                .to_owned(),
                side: match band.side {
                    FeeSide::Both => "both",
                    FeeSide::Sale => "sale",
                    FeeSide::Purchase => "purchase",
                }
                .to_owned(),
                rate: number(band.rate),
                minimum: band.minimum.map(|minimum| number(minimum.0)),
                maximum: band.maximum.map(|maximum| number(maximum.0)),
                maximum_bps: band.maximum_bps.map(number),
                effective_from: band.effective_from,
                only: schedule.only.as_ref().map(class),
                except: schedule.except.iter().map(class).collect(),
                approximate: band.approximate,
                unverified: band.unverified,
            });
        }
    }
    answers
}

/// The note if the data have no volume for the participation cap.
fn volume_note(config: &SimulationConfig, dataset: &Dataset) -> Option<String> {
    config.market.participation?;
    let has_none = |symbol: &&Symbol| {
        let bars = dataset.contents().daily_bars(symbol);
        bars.iter().filter_map(|bar| bar.rest).all(|rest| rest.volume.is_zero())
    };
    let without: Vec<&Symbol> = config.symbols.iter().filter(has_none).collect();
    let applied = "participation cap not applied: no volume";
    match without.len() {
        0 => None,
        all if all == config.symbols.len() => Some(applied.to_owned()),
        _ => Some(format!("{applied} for {}", named(&without))),
    }
}

/// Notes on price limits that cannot be checked.
fn limit_notes(config: &SimulationConfig, dataset: Option<&Dataset>) -> Vec<String> {
    let mut notes = Vec::new();
    let without: Vec<&Symbol> = config.symbols.iter().filter(|symbol| Board::of(symbol).is_none()).collect();
    if !without.is_empty() {
        notes.push(format!("price limits not judged for {}, which name no board", named(&without)));
    }
    let has_st = dataset.is_some_and(|dataset| {
        let last = dataset.days().last().map(|day| dataset.view(day.close));
        let is_st = |symbol: &Symbol| {
            let known = last.as_ref()?.fundamentals(symbol).ok()?.value;
            known.iter().any(|figure| figure.item.metric == papertape_core::market::ST_METRIC).then_some(())
        };
        config.symbols.iter().any(|symbol| is_st(symbol).is_some())
    });
    if !has_st {
        notes.push("the dataset does not say which shares are ST: each has its board's limit".to_owned());
    }
    notes.push(
        "a listing before the data begin is not known: such a share has its limit from the first day"
            .to_owned(),
    );
    notes
}

fn named(symbols: &[&Symbol]) -> String {
    let names: Vec<&str> = symbols.iter().take(MAX_NAMED).map(|symbol| symbol.as_str()).collect();
    let more = symbols.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

//! What a run was traded by: which price orders take, what they cost, and what can be filled.

use super::super::{Configs, Number, ViewError, number};
use crate::app::App;
use papertape_core::broker::{
    Board, FeeBasis, FeeCategory, FeeSide, FillModel, FillTiming, InstrumentClass, MarketProfile,
};
use papertape_core::id::{JobId, Symbol};
use papertape_core::market::Dataset;
use papertape_core::time::Date;
use papertape_runtime::config::SimulationConfig;
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;

/// A note names so many symbols.
const MAX_NAMED: usize = 8;

/// What a run was traded by, from the market profile that its job stores.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ConventionsResponse {
    /// The market profile.
    pub market: String,
    /// `market`: as below; `frictionless`: trading cost nothing.
    pub costs: String,
    /// What wrote the logs, of days that were traded elsewhere and imported: their convention holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<String>,
    /// The index whose members of each day could be traded on it; absent: symbols that were named, or all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub universe: Option<String>,
    /// Which price an order takes: `open`, `next_open` or `close`.
    pub fill: String,
    /// The same in words: `shown open`, `next open` or `close`.
    pub fill_label: String,
    /// How far fills of orders are worse than their reference price.
    pub slippage: Vec<SlippageResponse>,
    /// Fees that were in force on any of the days.
    pub fees: Vec<FeeResponse>,
    /// The annualized cost of borrowed shares, in basis points of a short position's value.
    pub annual_borrow_bps: Number,
    /// The annualized cost of borrowed money, in basis points.
    pub annual_financing_bps: Number,
    /// What is withheld of dividends on long positions, in percent.
    pub dividend_withholding_pct: Number,
    /// How much of an instrument's mean volume may be traded on one day, in percent; `null`: any quantity.
    pub participation_pct: Option<Number>,
    /// Of how many bars before the day that mean is.
    pub participation_bars: Option<u16>,
    /// Are price limits judged?
    pub has_price_limits: bool,
    /// What could not be judged, and other things to know.
    pub notes: Vec<String>,
    /// All of it in one paragraph.
    pub summary: String,
}

/// Slippage of some instruments.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct SlippageResponse {
    /// Base assets; empty: all others.
    pub symbols: Vec<String>,
    /// Basis points.
    pub bps: Number,
}

/// A fee in force from one day on.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct FeeResponse {
    /// Its name, such as `commission` or `stamp_duty`.
    pub name: String,
    /// `commission`, `duty` or `transfer`.
    pub category: String,
    /// What the rate is a rate of: `per_share`, `bps` or `per_million`.
    pub basis: String,
    /// Who pays: `both`, `sale` or `purchase`.
    pub side: String,
    /// The rate.
    pub rate: Number,
    /// The smallest fee of a fill.
    pub minimum: Option<Number>,
    /// The largest fee of a fill.
    pub maximum: Option<Number>,
    /// The same in basis points of its value.
    pub maximum_bps: Option<Number>,
    /// The first day on which it holds; `null`: always.
    #[schema(value_type = Option<String>, format = Date)]
    pub effective_from: Option<Date>,
    /// The class of instruments that alone pays it: `fund` or `perpetual`.
    pub only: Option<String>,
    /// Classes of instruments that do not pay it.
    pub except: Vec<String>,
    /// Does it stand for figures that are not known by date?
    pub approximate: bool,
    /// Was it stated without a source at hand?
    pub unverified: bool,
}

/// The conventions of a job on one day, without the notes that need its dataset. `None`: the job has no market.
///
/// # Errors
/// The record's.
pub(crate) async fn conventions_of(
    app: &App,
    job: &JobId,
    day: Date,
) -> Result<Option<ConventionsResponse>, ViewError> {
    let mut configs = Configs::default();
    Ok(configs.of(app, job).await?.map(|config| ConventionsResponse::of(config, None, (day, day))))
}

impl ConventionsResponse {
    /// The conventions of a job on one day.
    pub(in crate::view) fn of_day(app: &App, config: &SimulationConfig, day: Date) -> Self {
        let dataset = app.services.datasets.open(config.dataset.hash).ok();
        Self::of(config, dataset.as_deref(), (day, day))
    }

    /// The conventions of a job over some days.
    pub(super) fn of(
        config: &SimulationConfig,
        dataset: Option<&Dataset>,
        (first, last): (Date, Date),
    ) -> Self {
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
        let mut answer = Self {
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
                number(market.financing_bps_a_year)
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

    fn paragraph(&self) -> String {
        let mut text = format!("Orders fill at the {}.", self.fill_label);
        if self.costs == "frictionless" {
            text.push_str(" Costs: frictionless.");
        } else {
            let slips: Vec<String> = self.slippage.iter().map(SlippageResponse::text).collect();
            text.push_str(&format!(" Slippage: {}.", slips.join(", ")));
            // Of each fee the newest: the others are listed.
            let mut newest: Vec<&FeeResponse> = Vec::new();
            for fee in &self.fees {
                newest.retain(|known| (&known.name, &known.only) != (&fee.name, &fee.only));
                newest.push(fee);
            }
            let fees: Vec<String> =
                newest.into_iter().filter(|fee| !fee.rate.is_zero()).map(FeeResponse::text).collect();
            let fees = if fees.is_empty() { "none".to_owned() } else { fees.join("; ") };
            text.push_str(&format!(" Fees: {fees}."));
            if !self.annual_borrow_bps.is_zero() {
                text.push_str(&format!(" Borrowed shares: {} bps per year.", self.annual_borrow_bps));
            }
            if !self.annual_financing_bps.is_zero() {
                text.push_str(&format!(" Borrowed money: {} bps per year.", self.annual_financing_bps));
            }
        }
        if let (Some(share), Some(bars)) = (self.participation_pct, self.participation_bars) {
            text.push_str(&format!(" Orders: up to {share}% of the mean volume of {bars} bars."));
        }
        if let Some(universe) = &self.universe {
            text.push_str(&format!(" Universe: the members of {universe} on each day."));
        }
        for note in &self.notes {
            let mut letters = note.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            text.push_str(&format!(" {}{}.", first.map(String::from).unwrap_or_default(), letters.as_str()));
        }
        text
    }
}

impl SlippageResponse {
    fn text(&self) -> String {
        if self.symbols.is_empty() {
            format!("{} bps", self.bps)
        } else {
            format!("{} bps for {}", self.bps, self.symbols.join(", "))
        }
    }
}

impl FeeResponse {
    fn text(&self) -> String {
        let rate = match self.basis.as_str() {
            "per_share" => format!("{} per share", self.rate),
            "per_million" => format!("{} per million", self.rate),
            _ => format!("{} bps", self.rate),
        };
        let mut notes = Vec::new();
        match self.side.as_str() {
            "sale" => notes.push("sales".to_owned()),
            "purchase" => notes.push("purchases".to_owned()),
            _ => {}
        }
        notes.extend(self.only.iter().map(|only| format!("{only}s")));
        notes.extend(self.minimum.map(|minimum| format!("min {minimum}")));
        notes.extend(self.maximum.map(|maximum| format!("max {maximum}")));
        notes.extend(self.maximum_bps.map(|bps| format!("max {}% of the value", bps.to_f64() / 100.0)));
        match (self.approximate, self.unverified) {
            (true, _) => notes.push("approximate".to_owned()),
            (false, true) => notes.push("unverified".to_owned()),
            (false, false) => {}
        }
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
        let name = match self.name.as_str() {
            "sec_fee" => "SEC fee".to_owned(),
            "finra_taf" => "FINRA trading activity fee".to_owned(),
            other => other.replace('_', " "),
        };
        format!("{name} {rate}{notes}")
    }
}

fn word(fill: FillModel) -> String {
    match fill {
        FillModel::Open => "open",
        FillModel::NextOpen => "next_open",
        FillModel::Close => "close",
    }
    .to_owned()
}

/// The name of a kind of fee.
pub(super) fn category(category: FeeCategory) -> &'static str {
    match category {
        FeeCategory::Commission => "commission",
        FeeCategory::Duty => "duty",
        FeeCategory::Transfer => "transfer",
    }
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

/// What is to be said where the data do not carry the volume that the cap is judged by.
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

/// What is to be said of price limits that cannot be judged.
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

//! The benchmark of a run: the same money held in one symbol or index over the run's days, and the agent's metrics
//! relative to it. See [`Dataset::benchmark`].

use crate::error::ServiceError;
use papertape_core::id::{AgentName, Symbol};
use papertape_core::market::{BenchmarkSeries, Dataset, InstrumentType, NoBenchmark};
use papertape_core::metric::{self, PeriodMetrics, RelativeInput, daily_returns, relative_metrics};
use papertape_core::money::Money;
use papertape_core::time::Date;
use papertape_protocol::number::{figure, number};
use papertape_protocol::results::baseline::ValueAtClose;
use papertape_protocol::results::benchmark::{BenchmarkResponse, BenchmarkStartResponse, RelativeMetrics};
use papertape_protocol::results::metrics::Metrics;
use papertape_runtime::config::SimulationConfig;

/// The maximum number of symbols that an error lists.
const MAX_NAMED: usize = 20;

/// The requested benchmark, and whether it is known.
#[derive(Debug, Default)]
pub(super) struct Requested {
    symbol: Option<Symbol>,
    /// What the request calls it, if it is another symbol in a masked dataset.
    real: Option<Symbol>,
    /// Does any of the results' datasets have the symbol?
    is_known: bool,
    /// The error of the first dataset that does not have it.
    problem: Option<String>,
}

impl Requested {
    /// From the requested symbol, if there is one.
    pub(super) fn of(symbol: Option<&str>) -> Self {
        Self { symbol: symbol.map(|symbol| Symbol::new(symbol.trim())), ..Self::default() }
    }

    /// The requested symbol, if there is one.
    pub(super) fn symbol(&self) -> Option<&Symbol> {
        self.symbol.as_ref()
    }

    /// The same in a masked dataset.
    pub(super) fn masked(self, symbol: Symbol) -> Self {
        Self { real: self.symbol.filter(|real| *real != symbol), symbol: Some(symbol), ..Self::default() }
    }

    /// Its symbol in the masked dataset and its real one.
    pub(super) fn both(&self) -> Option<(&Symbol, &Symbol)> {
        self.symbol.as_ref().zip(self.real.as_ref())
    }

    /// Records whether a result's dataset has it.
    pub(super) fn check(&mut self, dataset: Option<&Dataset>) {
        let (Some(symbol), Some(dataset)) = (&self.symbol, dataset) else { return };
        match dataset.instrument(symbol) {
            Some(_) => self.is_known = true,
            None => drop(self.problem.get_or_insert_with(|| unknown_benchmark(dataset, symbol))),
        }
    }

    /// Fails if no dataset has it. If one has, results over others report it themselves.
    pub(super) fn finish(self) -> Result<(), ServiceError> {
        match self.problem.filter(|_| !self.is_known) {
            Some(problem) => Err(ServiceError::invalid("benchmark", problem)),
            None => Ok(()),
        }
    }
}

/// The error for a benchmark that a dataset does not have.
pub(crate) fn unknown_benchmark(dataset: &Dataset, symbol: &Symbol) -> String {
    // Indexes first: they are what a benchmark usually is.
    let known: Vec<&str> = dataset.indexes().chain(dataset.tradable_symbols()).map(Symbol::as_str).collect();
    let named = known.get(..MAX_NAMED).unwrap_or(&known).join(", ");
    let more = if known.len() > MAX_NAMED { ", …" } else { "" };
    format!("`{symbol}` is neither a symbol nor an index of {}; name one of {named}{more}", dataset.name())
}

/// The part of an agent's range that is compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared<'a> {
    /// The days.
    pub(super) dates: &'a [Date],
    /// The portfolio value before each of them, and at its close.
    pub(super) values: &'a [(Money, Money)],
    /// Whether the account opens on the first of them.
    pub(super) opens_account: bool,
    /// Their metrics.
    pub(super) metrics: &'a Metrics,
}

/// Whether an agent's account opens on this day: it continues no other job and no branch, and the job begins with it.
pub(in crate::view) fn opens_account(
    config: &SimulationConfig,
    dataset: Option<&Dataset>,
    agent: &AgentName,
    first: Date,
) -> bool {
    let begins = dataset.and_then(|dataset| {
        dataset.days().iter().map(|day| day.date).find(|date| *date >= config.start_date)
    });
    config.branch.is_none() && config.done_until(agent).is_none() && begins == Some(first)
}

/// Compares an agent's range with this symbol; `dataset` is `None` where it is no longer available.
pub(super) fn benchmark(
    symbol: &Symbol,
    dataset: Option<&Dataset>,
    compared: Compared<'_>,
) -> BenchmarkResponse {
    let instrument = dataset.and_then(|dataset| dataset.instrument(symbol));
    let instrument_type = instrument.map(|instrument| instrument.instrument_type);
    let mut answer = BenchmarkResponse {
        symbol: symbol.to_string(),
        instrument_type: instrument_type.map(|what| what.as_str().to_owned()),
        name: instrument.map(|instrument| instrument.name.clone()),
        basis: instrument_type.map(|what| {
            match what {
                InstrumentType::Stock => "total_return",
                InstrumentType::Index => "level",
            }
            .to_owned()
        }),
        start: None,
        daily_portfolio_values: Vec::new(),
        missing_days: Vec::new(),
        period_metrics: None,
        relative_metrics: RelativeMetrics::default(),
        unavailable: None,
    };
    let Some(dataset) = dataset else {
        answer.unavailable = Some("the job's dataset is no longer available".to_owned());
        return answer;
    };
    match dataset.benchmark(symbol, compared.dates, compared.opens_account) {
        Ok(series) => fill(&mut answer, series, compared),
        Err(NoBenchmark::Unknown(_)) => {
            answer.unavailable = Some(format!("{} does not have it", dataset.name()))
        }
        Err(why) => answer.unavailable = Some(why.to_string()),
    }
    answer
}

fn fill(answer: &mut BenchmarkResponse, series: BenchmarkSeries, compared: Compared<'_>) {
    let year = compared.metrics.trading_days_per_year;
    let Some(returns) = daily_returns(1.0, &series.values) else {
        answer.unavailable = Some("its prices are out of range".to_owned());
        return;
    };
    let start = series.start;
    answer.start = Some(BenchmarkStartResponse {
        date: start.date,
        price: number(start.price.0),
        at: if start.is_first_open { "first_open" } else { "previous_close" }.to_owned(),
    });
    answer.missing_days = series.missing;
    let initial = compared.values.first().map_or(Money::ZERO, |(before, _)| *before);
    let at_close = |(date, value): (&Date, &f64)| ValueAtClose {
        date: *date,
        portfolio_value: number(Money::from_f64(figure(initial.to_f64() * value)).unwrap_or(initial).0),
    };
    answer.daily_portfolio_values = compared.dates.iter().zip(&series.values).map(at_close).collect();
    let own = own_metrics(&returns, compared.dates.len(), year).into();
    answer.period_metrics = Some(super::measure::with_returns(own, &returns, f64::from(year)));
    let own = agent_returns(compared.values);
    let relative = RelativeInput {
        returns: &own,
        benchmark: &returns,
        total_return: compared.metrics.total_return,
        trading_days_per_year: year,
    };
    answer.relative_metrics = relative_metrics(&relative).without_short_annualized(own.len()).into();
}

/// The metrics of a holding without trades.
fn own_metrics(returns: &[f64], days: usize, trading_days_per_year: u16) -> PeriodMetrics {
    let year = f64::from(trading_days_per_year);
    PeriodMetrics {
        days,
        returns: returns.len(),
        trading_days_per_year,
        total_return: metric::total_return(returns),
        annualized_return: metric::annualized_return(returns, year),
        volatility: metric::annualized_volatility(returns, year),
        sharpe: metric::sharpe(returns, 0.0, year),
        sortino: metric::sortino(returns, 0.0, year),
        max_drawdown: metric::max_drawdown(returns),
        calmar: metric::calmar(returns, year),
        ..PeriodMetrics::default()
    }
}

/// An agent's daily returns, up to the day on which its account is worth nothing.
fn agent_returns(values: &[(Money, Money)]) -> Vec<f64> {
    let solvent = values.iter().take_while(|(before, _)| before.is_positive());
    solvent.map(|(before, after)| after.to_f64() / before.to_f64() - 1.0).collect()
}

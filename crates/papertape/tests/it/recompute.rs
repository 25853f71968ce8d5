//! Books that anyone can recompute: a small program reads `GET /results` day by day, over several jobs, and
//! computes cash, positions, values and profits from the rows only. It shares no code with the product's
//! books: its knowledge of a market is in [`Rules`], and everything else is in the responses.

use crate::api_support::{World, config};
use crate::bundle_support::{assert_whole, bundle_of};
use papertape_agents::config::AgentConfig;
use papertape_core::broker::{FillModel, MarketProfile};
use papertape_core::id::{AgentName, JobId, Symbol};
use papertape_core::market::{DailyBar, Dataset, DatasetBuilder, Instrument, InstrumentType, TradingHours};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::Date;
use papertape_llm::{ProviderConfig, ProviderKind};
use papertape_market::Catalogue;
use papertape_protocol::bundle::TapeForm;
use papertape_runtime::replay;
use papertape_service::app::App;
use papertape_service::trigger::Request as Simulation;
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::markets;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const HOUSE: [&str; 3] = ["house::momentum", "house::contrarian", "house::buy_and_hold"];
const CASH: i64 = 1_000_000;

/// The documented rules of a market.
struct Rules {
    /// `None`: fractions down to 8 decimals.
    lot: Option<Decimal>,
    t_plus_one: bool,
    shorting: bool,
    max_leverage: Decimal,
    /// Whether a position's loss is limited to its margin.
    isolated: bool,
    /// Basis points per year.
    financing: Decimal,
}

fn rules(market: &str) -> Rules {
    let shares = Rules {
        lot: Some(Decimal::ONE),
        t_plus_one: false,
        shorting: true,
        max_leverage: Decimal::ONE,
        isolated: false,
        financing: Decimal::ZERO,
    };
    match market {
        "cn_a_share" => {
            Rules { lot: Some(Decimal::ONE_HUNDRED), t_plus_one: true, shorting: false, ..shares }
        }
        "crypto" => Rules {
            lot: None,
            max_leverage: Decimal::TEN,
            isolated: true,
            financing: Decimal::from(1_095),
            ..shares
        },
        _ => shares,
    }
}

/// A JSON number as written.
#[track_caller]
fn number(value: &Value) -> Decimal {
    let text = value.to_string();
    let read = text.parse().or_else(|_| Decimal::from_scientific(&text));
    read.unwrap_or_else(|error| panic!("{value} is no number: {error}"))
}

fn optional(value: &Value) -> Option<Decimal> {
    (!value.is_null()).then(|| number(value))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list")).clone()
}

/// Equal to the cent.
#[track_caller]
fn same(ours: Decimal, theirs: &Value, what: &str) {
    let theirs = number(theirs);
    assert!((ours - theirs).abs() < Decimal::new(5, 3), "{what}: {ours} and not {theirs}");
}

#[derive(Clone, Debug, Default)]
struct Held {
    units: Decimal,
    /// The cost of opening the units; negative for a short position.
    cost: Decimal,
    margin: Decimal,
    leverage: Decimal,
    fees: Decimal,
    income: Decimal,
    acquired: (String, Decimal),
}

/// One agent's account, from the rows only.
struct Recomputed {
    rules: Rules,
    cash: Decimal,
    held: BTreeMap<String, Held>,
    value: Decimal,
    waiting: BTreeSet<String>,
    ruined: bool,
    /// The day and the number of nights of the newest charge.
    charged: Option<(String, i64)>,
    seen: BTreeMap<String, usize>,
    last_day: Option<String>,
}

impl Recomputed {
    fn new(market: &str) -> Self {
        Self {
            rules: rules(market),
            cash: CASH.into(),
            held: BTreeMap::new(),
            value: CASH.into(),
            waiting: BTreeSet::new(),
            ruined: false,
            charged: None,
            seen: BTreeMap::new(),
            last_day: None,
        }
    }

    fn available(&self) -> Decimal {
        self.cash + self.held.values().map(|held| held.cost - held.margin).sum::<Decimal>()
    }

    /// Applies a day as returned by `GET /results`.
    fn day(&mut self, day: &Value) {
        let date = text(&day["date"]);
        let what = format!("{} on {date}", day["model"]);
        if let Some((on, nights)) = self.charged.take() {
            let from: Date = on.parse().expect("a date");
            let to: Date = date.parse().expect("a date");
            let days = from.until((jiff::Unit::Day, to)).expect("days").get_days();
            assert_eq!(i64::from(days), nights, "{what}: the nights from {on}");
        }
        let starts = &day["starting_position"];
        same(self.cash, &starts["cash"], &format!("{what}: cash before"));
        same(self.value, &starts["portfolio_value"], &format!("{what}: value before"));
        self.compare(&list(&starts["holdings"]), &format!("{what}: before"));
        let mut rows = Vec::new();
        for rows_of in ["trades", "corporate_actions", "financing"] {
            rows.extend(list(&day[rows_of]));
        }
        let closes: BTreeMap<String, Decimal> = list(&day["final_position"]["holdings"])
            .iter()
            .map(|held| (text(&held["symbol"]), number(&held["price"])))
            .collect();
        rows.sort_by_key(|row| row["action_id"].as_u64());
        let ids: BTreeSet<u64> = rows.iter().filter_map(|row| row["action_id"].as_u64()).collect();
        assert_eq!(ids.len(), rows.len(), "{what}: numbers are unique");
        for row in &rows {
            let kind = row["action_type"].as_str().unwrap_or("financing");
            *self.seen.entry(kind.to_owned()).or_default() += 1;
            let what = format!("{what}: {row}");
            match kind {
                "split" => self.split(row),
                "dividend" => self.dividend(row, &what),
                "financing" => self.financing(&date, row, &closes, &what),
                "buy" | "short" => self.open(&date, row, kind == "buy", &what),
                _ => self.close(&date, row, kind, &what),
            }
            same(self.cash, &row["cash_after"], &what);
        }
        self.ends(day, &what);
        self.last_day = Some(date);
    }

    fn ends(&mut self, day: &Value, what: &str) {
        let ends = &day["final_position"];
        same(self.cash, &ends["cash"], &format!("{what}: cash after"));
        let holdings = list(&ends["holdings"]);
        self.compare(&holdings, &format!("{what}: after"));
        let marked: Decimal =
            holdings.iter().map(|held| number(&held["price"]) * number(&held["quantity"])).sum();
        let value = self.cash + marked;
        same(value, &ends["portfolio_value"], &format!("{what}: value after"));
        same(value - self.value, &day["daily_metrics"]["profit"], &format!("{what}: profit"));
        match optional(&day["daily_metrics"]["return_pct"]) {
            Some(pct) => {
                let ours = (value - self.value) / self.value * Decimal::ONE_HUNDRED;
                assert!((ours - pct).abs() < Decimal::new(1, 6), "{what}: {ours} and not {pct}");
            }
            None => assert!(self.value <= Decimal::ZERO, "{what}: a return is missing"),
        }
        let snapshots = list(&day["position_snapshots"]);
        assert_eq!(snapshots.len(), self.held.len(), "{what}: a snapshot of each position");
        for snapshot in &snapshots {
            let held = &self.held[&text(&snapshot["symbol"])];
            let close = number(&snapshot["close"]);
            assert_eq!(held.units, number(&snapshot["quantity"]), "{what}");
            let average = number(&snapshot["avg_price"]);
            assert!((held.cost / held.units - average).abs() <= average * Decimal::new(1, 9), "{what}");
            same(held.units * close - held.cost, &snapshot["unrealised_pnl"], &format!("{what}: {snapshot}"));
            assert_eq!(held.leverage, number(&snapshot["leverage"]), "{what}");
        }
        // A pending order has filled, was rejected, or is still pending.
        let ids = |of: &str| -> BTreeSet<String> {
            list(&day[of]).iter().map(|order| text(&order["order_id"])).collect()
        };
        let (waits, filled, refused) = (ids("pending_orders"), ids("trades"), ids("rejections"));
        for order in &self.waiting {
            let is_somewhere = [&waits, &filled, &refused].iter().any(|list| list.contains(order));
            assert!(is_somewhere, "{what}: the order {order} is gone");
        }
        self.waiting = waits;
        self.ruined |= value <= Decimal::ZERO;
        assert_eq!(!day["insolvent"].is_null(), self.ruined, "{what}: {}", day["insolvent"]);
        self.value = value;
    }

    #[track_caller]
    fn compare(&self, holdings: &[Value], what: &str) {
        let theirs: BTreeMap<String, Decimal> =
            holdings.iter().map(|held| (text(&held["symbol"]), number(&held["quantity"]))).collect();
        let ours: BTreeMap<String, Decimal> =
            self.held.iter().map(|(symbol, held)| (symbol.clone(), held.units)).collect();
        assert_eq!(ours, theirs, "{what}");
    }

    fn check_lot(&self, units: Decimal, closes_all: bool, what: &str) {
        match self.rules.lot {
            Some(lot) => assert!((units % lot).is_zero() || closes_all, "{what}: lots of {lot}"),
            None => assert!(units == units.round_dp(8), "{what}: at most 8 decimals"),
        }
    }

    fn open(&mut self, date: &str, row: &Value, is_long: bool, what: &str) {
        assert!(!self.ruined, "{what}: an insolvent account trades no more");
        assert!(is_long || self.rules.shorting, "{what}");
        let (units, price, fee) = (number(&row["quantity"]), number(&row["price"]), number(&row["fee"]));
        self.check_lot(units, false, what);
        let leverage = number(&row["leverage"]);
        assert!(leverage >= Decimal::ONE && leverage <= self.rules.max_leverage, "{what}");
        if leverage > Decimal::ONE {
            let stop = optional(&row["stop"]).unwrap_or_else(|| panic!("{what}: a stop"));
            let loss = (price - stop) / price * leverage;
            let loss = if is_long { loss } else { -loss };
            assert!(loss <= Decimal::new(1001, 4), "{what}: a leveraged loss of {loss}");
        }
        let signed = if is_long { units } else { -units };
        let cost = price * signed;
        let margin = cost.abs() / leverage;
        let cent = Decimal::new(1, 2);
        assert!(margin + fee <= self.available() + cent, "{what}: of {}", self.available());
        let held = self.held.entry(text(&row["symbol"])).or_default();
        assert!(held.units.is_zero() || held.units.is_sign_positive() == is_long, "{what}");
        assert!(held.units.is_zero() || held.leverage == leverage, "{what}");
        held.leverage = leverage;
        held.units += signed;
        held.cost += cost;
        held.margin += margin;
        held.fees += fee;
        if held.acquired.0 != date {
            held.acquired = (date.to_owned(), Decimal::ZERO);
        }
        held.acquired.1 += units;
        self.cash -= cost + fee;
    }

    fn close(&mut self, date: &str, row: &Value, kind: &str, what: &str) {
        let (units, price, fee) = (number(&row["quantity"]), number(&row["price"]), number(&row["fee"]));
        let symbol = text(&row["symbol"]);
        let held = self.held.get(&symbol).unwrap_or_else(|| panic!("{what}: nothing is held")).clone();
        let is_long = held.units > Decimal::ZERO;
        match kind {
            "sell" => assert!(is_long, "{what}"),
            "cover" => assert!(!is_long, "{what}"),
            _ => {}
        }
        assert!(!self.ruined || kind == "liquidation", "{what}: an insolvent account trades no more");
        assert!(units <= held.units.abs(), "{what}");
        self.check_lot(units, units == held.units.abs(), what);
        if self.rules.t_plus_one && kind != "liquidation" && held.acquired.0 == date {
            assert!(units <= held.units.abs() - held.acquired.1, "{what}: T+1");
        }
        assert_eq!(held.leverage, number(&row["leverage"]), "{what}");
        let slack = Decimal::new(1, 9) * price;
        let beyond = |level: Decimal| if is_long { price <= level + slack } else { price >= level - slack };
        match kind {
            "stop" => assert!(beyond(optional(&row["stop"]).expect("its stop")), "{what}"),
            "target" => {
                let target = optional(&row["target"]).expect("its target");
                assert!(if is_long { price >= target } else { price <= target }, "{what}");
            }
            _ => {}
        }
        let part = units / held.units.abs();
        let signed = if is_long { units } else { -units };
        let gross = price * signed - held.cost * part;
        if self.rules.isolated {
            let lost = fee - gross;
            assert!(lost <= held.margin * part + Decimal::new(1, 4), "{what}: {lost} of {}", held.margin);
        }
        let realized = gross - fee - held.fees * part + held.income * part;
        same(realized, &row["realized_pnl"], &format!("{what}: realised"));
        self.cash += price * signed - fee;
        self.keep(&symbol, held, part, signed);
    }

    /// Takes a part out of a position.
    fn keep(&mut self, symbol: &str, mut held: Held, part: Decimal, signed: Decimal) {
        held.units -= signed;
        if held.units.is_zero() {
            self.held.remove(symbol);
            return;
        }
        let rest = Decimal::ONE - part;
        for amount in [&mut held.cost, &mut held.margin, &mut held.fees, &mut held.income] {
            *amount *= rest;
        }
        held.acquired.1 = held.acquired.1.min(held.units.abs());
        self.held.insert(symbol.to_owned(), held);
    }

    fn split(&mut self, row: &Value) {
        let symbol = text(&row["symbol"]);
        let mut held = self.held.get(&symbol).expect("is held").clone();
        let units = (held.units * number(&row["ratio"])).round_dp(8);
        held.units = units;
        held.acquired.1 *= number(&row["ratio"]);
        let fraction = if self.rules.lot.is_some() { units.fract() } else { Decimal::ZERO };
        self.cash += fraction * number(&row["price"]);
        self.keep(&symbol, held, fraction / units, fraction);
        let left = self.held.get(&symbol).map(|held| held.units).unwrap_or_default();
        assert_eq!(left, number(&row["quantity"]), "{row}");
    }

    fn dividend(&mut self, row: &Value, what: &str) {
        let held = self.held.get_mut(&text(&row["symbol"])).expect("is held");
        assert_eq!(held.units, number(&row["quantity"]), "{what}");
        let paid = held.units * number(&row["price"]);
        held.income += paid;
        self.cash += paid;
    }

    fn financing(&mut self, date: &str, row: &Value, closes: &BTreeMap<String, Decimal>, what: &str) {
        let symbol = text(&row["symbol"]);
        let nights = row["nights"].as_i64().expect("nights");
        let held = self.held.get_mut(&symbol).expect("is held");
        assert_eq!(held.units, number(&row["quantity"]), "{what}");
        let charge = held.units.abs() * number(&row["price"]);
        let financed = if held.units > Decimal::ZERO {
            held.cost - held.margin
        } else {
            held.units.abs() * closes[&symbol]
        };
        let due = financed * self.rules.financing / Decimal::from(10_000) * Decimal::from(nights)
            / Decimal::from(365);
        assert!((charge - due).abs() < Decimal::new(5, 3), "{what}: {charge} for {due}");
        held.income -= charge;
        self.cash -= charge;
        self.charged = Some((date.to_owned(), nights));
    }
}

/// The application over synthetic markets, with a scripted model.
async fn world(server: &ModelServer) -> World {
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = config(&dir);
    let provider = ProviderConfig {
        kind: Some(ProviderKind::OpenaiCompatible),
        base_url: Some(server.url()),
        api_key_env: None,
        stream: false,
        ..ProviderConfig::default()
    };
    config.models.providers.insert("lab".to_owned(), provider);
    let later =
        MarketProfile { fill_model: FillModel::NextOpen, ..MarketProfile::us_equity().frictionless() };
    config.markets.insert("later".to_owned(), MarketProfile { name: "later".to_owned(), ..later });
    // With all costs; the orders are too large for the synthetic volumes.
    config
        .markets
        .insert("crypto".to_owned(), MarketProfile { participation: None, ..MarketProfile::crypto() });
    let mut catalogue = Catalogue::bundled();
    for (dataset, market) in
        [(markets::a_shares(), "cn_a_share"), (markets::crypto(), "crypto"), (ruinous(), "us_equity")]
    {
        catalogue.add_with_market(Arc::new(dataset), market).expect("a name of its own");
    }
    let store = Store::open(DatabaseTarget::Sqlite(dir.path().join("papertape.db"))).await.expect("it opens");
    let app = App::build_with(config, store, catalogue, papertape::integrations()).expect("it is composed");
    World { router: papertape_api::router(app.clone()), app, job: String::new(), _dir: dir }
}

/// A stock at 100 for three days and at 450 from the next open on.
fn ruinous() -> Dataset {
    let mut builder = DatasetBuilder::new("ruinous", TradingHours::US_ZONE);
    let symbol = Symbol::new("RUIN");
    let (name, currency) = ("RUIN (made up)".to_owned(), "USD".to_owned());
    builder.instrument(Instrument {
        symbol: symbol.clone(),
        name,
        currency,
        instrument_type: InstrumentType::Stock,
    });
    for (day, at) in [(1, 100), (2, 100), (3, 101), (4, 450), (5, 440)] {
        let date = jiff::civil::date(2024, 7, day);
        builder.day(TradingHours::us_equity().day(date).expect("a day")).expect("a new day");
        let price = Price(at.into());
        let volume = Quantity(1_000_000.into());
        let bar = DailyBar { date, open: price, high: price, low: price, close: price, volume };
        builder.bar(&symbol, bar).expect("a possible bar");
    }
    builder.build().expect("possible rows")
}

/// The tool results of the day so far, and the day.
fn so_far(body: &Value) -> (usize, String) {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let asked = messages.iter().filter(|message| message["role"] == "user");
    let asked: String = asked.filter_map(|message| message["content"].as_str()).collect();
    let day = asked.split_once("today's (").map(|(_, rest)| rest.chars().take(10).collect());
    (messages.iter().filter(|message| message["role"] == "tool").count(), day.unwrap_or_default())
}

fn open_of(body: &Value, symbol: &str) -> f64 {
    let asked = body["messages"].to_string().replace("\\\"", "\"");
    let open =
        asked.split_once(&format!("\"{symbol}\":")).and_then(|(_, rest)| rest.split([',', '}']).next());
    open.and_then(|open| open.parse().ok()).unwrap_or_default()
}

/// Orders by day, in sequence; a stop is given as a fraction of the open.
type Plan = &'static [(&'static str, &'static [(&'static str, &'static str, f64, u32, f64)])];

fn planned(body: &Value, plan: Plan) -> ScriptedAnswer {
    let (n, day) = so_far(body);
    let orders = plan.iter().find(|(on, _)| *on == day).map_or(&[][..], |(_, orders)| *orders);
    let Some((side, symbol, quantity, leverage, stop)) = orders.get(n) else {
        return ScriptedAnswer::text("Done. <FINISH_SIGNAL>");
    };
    let mut arguments = json!({ "symbol": symbol, "quantity": quantity });
    if *leverage > 1 {
        arguments["leverage"] = json!(leverage);
    }
    if *stop > 0.0 {
        arguments["stop"] = json!(open_of(body, symbol) * stop);
    }
    ScriptedAnswer::call(&format!("c{n}"), side, &arguments.to_string())
}

/// Longs and shorts through AAPL's split of 2005-02-28 and dividends of IBM and MSFT, partly closed, and a
/// position that opens and closes on one day.
const SHARES: Plan = &[
    ("2005-02-01", &[("buy", "AAPL", 333.0, 1, 0.7), ("short", "IBM", 500.0, 1, 0.0)]),
    ("2005-02-02", &[("buy", "MSFT", 7_001.0, 1, 0.0), ("cover", "IBM", 123.0, 1, 0.0)]),
    ("2005-02-09", &[("buy", "GOOG", 50.0, 1, 0.0), ("sell", "GOOG", 50.0, 1, 0.0)]),
    ("2005-02-16", &[("short", "GOOG", 111.0, 1, 1.2), ("sell", "MSFT", 2_000.0, 1, 0.0)]),
    ("2005-03-01", &[("sell", "AAPL", 101.0, 1, 0.0), ("cover", "IBM", 377.0, 1, 0.0)]),
];

const A_SHARES: Plan = &[
    ("2024-02-01", &[("buy", "000001.SZ", 1_300.0, 1, 0.0), ("buy", "600519.SH", 200.0, 1, 0.0)]),
    ("2024-02-02", &[("sell", "000001.SZ", 300.0, 1, 0.0), ("buy", "000001.SZ", 500.0, 1, 0.0)]),
    ("2024-02-22", &[("sell", "000001.SZ", 700.0, 1, 0.0)]),
];

/// Leverage long and short over weekends, and the coin that crashes through its margin on 2024-04-13.
const COINS: Plan = &[
    (
        "2024-04-02",
        &[
            ("buy", "BTC-USD", 2.125, 3, 0.97),
            ("short", "ETH-USD", 11.5, 2, 1.045),
            ("buy", "SHIB-USD", 1e9, 1, 0.0),
        ],
    ),
    ("2024-04-04", &[("sell", "BTC-USD", 1.000_000_01, 1, 0.0), ("sell", "SHIB-USD", 123_456_789.0, 1, 0.0)]),
    ("2024-04-11", &[("buy", "SOL-USD", 2_000.0, 10, 0.9905), ("short", "BTC-USD", 0.5, 1, 0.0)]),
    ("2024-04-12", &[("buy", "SOL-USD", 2_000.0, 10, 0.9905)]),
    ("2024-04-20", &[("buy", "ETH-USD", 30.0, 5, 0.981), ("cover", "BTC-USD", 0.25, 1, 0.0)]),
];

const RUIN: Plan = &[
    ("2024-07-01", &[("short", "RUIN", 5_000.0, 1, 0.0)]),
    ("2024-07-05", &[("buy", "RUIN", 1.0, 1, 0.0), ("short", "RUIN", 1.0, 1, 0.0)]),
];

fn simulation(dataset: &str, from: Option<Date>, to: Date) -> Simulation {
    let trader = AgentConfig::solo(AgentName::new("trader"), "lab::one".parse().expect("a model"));
    Simulation {
        start_date: from,
        end_date: Some(to),
        agents: vec![trader],
        models: HOUSE.map(str::to_owned).to_vec(),
        dataset: (!dataset.is_empty()).then(|| dataset.to_owned()),
        initial_cash: Some(CASH.into()),
        summaries: Some(false),
        ..Simulation::default()
    }
}

/// Runs the spans in sequence, each continuing the one before, and recomputes every agent's every day from
/// the responses. Returns how often each kind of row occurred, and each agent's last day.
async fn recomputed(
    world: &World,
    market: &str,
    spans: Vec<Simulation>,
) -> (BTreeMap<String, usize>, BTreeMap<String, Value>) {
    let mut accounts: BTreeMap<String, Recomputed> = BTreeMap::new();
    let mut last = BTreeMap::new();
    let mut jobs = Vec::new();
    for span in spans {
        let job = world.run(span).await;
        let range = world.good(&format!("/results?job_id={job}")).await;
        for result in list(&range["results"]) {
            let model = text(&result["model"]);
            let account = accounts.entry(model.clone()).or_insert_with(|| Recomputed::new(market));
            for day in list(&result["daily_portfolio_values"]) {
                let date = text(&day["date"]);
                if account.last_day.as_ref().is_some_and(|last| *last >= date) {
                    continue;
                }
                let uri = format!("/results?job_id={job}&date={date}&model={model}");
                let told = world.good(&uri).await;
                account.day(&told["results"][0]);
                same(account.value, &day["portfolio_value"], &format!("{model} on {date}: of the range"));
                last.insert(model.clone(), told["results"][0].clone());
            }
        }
        jobs.push(job);
    }
    assert_eq!(accounts.len(), HOUSE.len() + 1, "everybody was recomputed");
    for job in jobs {
        let job = JobId::new(job.as_str());
        let row = papertape_core::ports::Queue::get_job(&world.app.store, &job).await.expect("reads");
        let report = replay::run(&world.app.services, &row.expect("is there")).await.expect("replays");
        assert!(report.faults.is_empty() && report.equal > 0, "{report:?}");
        assert_eq!(world.app.store.verify_chain(&job).await.expect("verifies").broken, None);
        // The product's own recomputation, from the bundle only, compared with the tape.
        assert_whole(&bundle_of(world, job.as_str(), TapeForm::Full).await);
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (kind, times) in accounts.values().flat_map(|account| &account.seen) {
        *seen.entry(kind.clone()).or_default() += times;
    }
    (seen, last)
}

#[track_caller]
fn met(seen: &BTreeMap<String, usize>, kinds: &[&str]) {
    for kind in kinds {
        assert!(seen.contains_key(*kind), "no {kind}: {seen:?}");
    }
}

const fn on(year: i16, month: i8, day: i8) -> Date {
    jiff::civil::date(year, month, day)
}

#[tokio::test(flavor = "multi_thread")]
async fn shares_are_recomputed_from_the_answers() {
    let server = ModelServer::answering(|body| planned(body, SHARES)).await;
    let world = world(&server).await;
    let of = |from, to| simulation("", from, to);
    let spans =
        vec![of(Some(on(2005, 2, 1)), on(2005, 2, 10)), of(None, on(2005, 2, 25)), of(None, on(2005, 3, 4))];
    let (seen, _) = recomputed(&world, "us_equity", spans).await;
    met(&seen, &["buy", "sell", "short", "cover", "split", "dividend"]);
    assert!(!seen.contains_key("financing"), "nothing is lent: {seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_that_wait_are_recomputed_from_the_answers() {
    let server = ModelServer::answering(|body| planned(body, SHARES)).await;
    let world = world(&server).await;
    let of = |from, to| Simulation { market: Some("later".to_owned()), ..simulation("", from, to) };
    let spans = vec![of(Some(on(2005, 2, 1)), on(2005, 2, 10)), of(None, on(2005, 3, 4))];
    let (seen, _) = recomputed(&world, "later", spans).await;
    met(&seen, &["buy", "sell", "short", "cover", "split", "dividend"]);
    let days = world.good("/results?date=2005-02-01&model=trader").await;
    let waiting = list(&days["results"][0]["pending_orders"]);
    let told: Vec<_> = waiting.iter().map(|order| (text(&order["side"]), text(&order["fills_at"]))).collect();
    assert_eq!(
        told,
        [("buy", "next_open"), ("short", "next_open")].map(|(a, b)| (a.to_owned(), b.to_owned()))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shares_are_recomputed_from_the_answers() {
    let server = ModelServer::answering(|body| planned(body, A_SHARES)).await;
    let world = world(&server).await;
    let of = |from, to| simulation("synthetic-a-shares", from, to);
    let spans = vec![of(Some(on(2024, 2, 1)), on(2024, 2, 19)), of(None, on(2024, 2, 29))];
    let (seen, _) = recomputed(&world, "cn_a_share", spans).await;
    met(&seen, &["buy", "sell", "split", "dividend"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn coins_are_recomputed_from_the_answers() {
    let server = ModelServer::answering(|body| planned(body, COINS)).await;
    let world = world(&server).await;
    let costs = Some(papertape_core::broker::CostModel::Market);
    let of = |from, to| Simulation { costs, ..simulation("synthetic-crypto", from, to) };
    let spans =
        vec![of(Some(on(2024, 4, 1)), on(2024, 4, 5)), of(None, on(2024, 4, 12)), of(None, on(2024, 4, 30))];
    let (seen, _) = recomputed(&world, "crypto", spans).await;
    met(&seen, &["buy", "sell", "short", "cover", "stop", "target", "liquidation", "financing"]);
}

/// Goal: ruin is named, with the loss as a number, in the day, the range, its metrics and the session's head;
/// later orders are rejected with their code, and the agent is told.
#[tokio::test(flavor = "multi_thread")]
async fn ruin_is_named_and_recomputed() {
    let server = ModelServer::answering(|body| planned(body, RUIN)).await;
    let world = world(&server).await;
    let spans = vec![simulation("ruinous", Some(on(2024, 7, 1)), on(2024, 7, 5))];
    let (_, last) = recomputed(&world, "us_equity", spans).await;
    let day = &last["trader"];
    // 5,000 sold short at 100 and bought back at 450.
    assert_eq!(day["insolvent"], json!({ "since": "2024-07-04", "loss": 1_745_000, "owed": 750_000 }));
    let codes: Vec<String> = list(&day["rejections"]).iter().map(|refused| text(&refused["code"])).collect();
    assert_eq!(codes, ["insolvent", "insolvent"]);
    let told: String = server.requests().iter().map(|request| request.body.to_string()).collect();
    assert!(told.contains("insolvent: nothing is left and 750000 is owed"), "the agent is told");

    let range = world.good("/results?model=trader").await;
    let result = &range["results"][0];
    assert_eq!(result["insolvent"]["since"], "2024-07-04");
    let metrics = &result["period_metrics"];
    assert_eq!((&metrics["insolvent_on"], &metrics["total_return"]), (&json!("2024-07-04"), &json!(-1.75)));
    assert_eq!((&metrics["annualized_return"], &metrics["mean_interval"]), (&Value::Null, &Value::Null));
    assert_eq!(metrics["max_drawdown"], json!(-1.75));
    let head = world.good(&format!("/sessions/{}", day["metadata"]["session_id"])).await;
    assert_eq!(head["insolvent"]["owed"], json!(750_000));
    let others = ["house::momentum", "house::buy_and_hold"];
    assert!(others.iter().all(|name| last[*name]["insolvent"].is_null()));
}

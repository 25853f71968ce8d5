//! Masked jobs: what their agents see, what their rules earn, and how their results are shown and compared.

use crate::api_support::World;
use crate::listing::{solo, world};
use papertape_agents::config::AgentConfig;
use papertape_core::id::{JobId, Symbol};
use papertape_core::market::{
    DailyBar, Dataset, DatasetBuilder, Instrument, InstrumentType, MaskKind, News, TradingDay, TradingHours,
};
use papertape_core::money::{Price, Quantity};
use papertape_core::ports::Queue as _;
use papertape_core::time::Date;
use papertape_market::{BUNDLED_NAME, Catalogue};
use papertape_runtime::config::SimulationConfig;
use papertape_runtime::replay;
use papertape_service::trigger::{BranchRequest, Request as Simulation, branch, trigger};
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Symbol, name in the dataset, and a Chinese name that texts use.
const COMPANIES: [(&str, &str, &str); 13] = [
    ("600519.SH", "贵州茅台酒股份有限公司", "贵州茅台"),
    ("AAPL", "Apple Inc.", "苹果"),
    ("AMZN", "Amazon.com, Inc.", "亚马逊"),
    ("BABA", "Alibaba Group Holding Ltd", "阿里巴巴"),
    ("DIS", "The Walt Disney Company", "迪士尼"),
    ("GS", "Goldman Sachs Group, Inc.", "高盛"),
    ("IBM", "International Business Machines Corporation", "国际商业机器"),
    ("INTC", "Intel Corporation", "英特尔"),
    ("MSFT", "Microsoft Corporation", "微软"),
    ("NFLX", "Netflix, Inc.", "奈飞"),
    ("NVDA", "NVIDIA Corporation", "英伟达"),
    ("SBUX", "Starbucks Corporation", "星巴克"),
    ("TSLA", "Tesla, Inc.", "特斯拉"),
];
/// The days of the market. Shifted by two years or more, none is in the year of the planted dates.
const FIRST_DAY: &str = "2024-03-04";
const DAYS: usize = 12;
/// Planted forms per news item.
const PER_ITEM: usize = 24;

fn first_word(name: &str) -> &str {
    let name = name.trim_start_matches("The ");
    name.split([',', '.', ' ']).next().unwrap_or(name)
}

/// The forms in which texts name the companies.
fn planted_names() -> Vec<String> {
    let mut forms = Vec::new();
    for (symbol, name, chinese) in COMPANIES {
        forms.extend([symbol.to_owned(), format!("${symbol}"), format!("(NYSE: {symbol})"), name.to_owned()]);
        forms.extend([chinese.to_owned(), format!("{chinese}公司")]);
        if symbol.chars().all(|c| c.is_ascii_alphabetic()) {
            let word = first_word(name);
            let word = match word {
                "International" => "International Business Machines",
                "Walt" => "Disney",
                word => word,
            };
            forms.extend([
                symbol.to_lowercase(),
                format!("${}", symbol.to_lowercase()),
                format!("#{symbol}"),
            ]);
            forms.extend([format!("{name}'s"), word.to_owned(), format!("{word}'s"), word.to_uppercase()]);
        }
    }
    forms
}

/// The forms in which texts name days of 2023. They are eleven days apart, more than the shift moves a day within a
/// year, so that no masked day is another planted one.
fn planted_dates() -> Vec<String> {
    let mut forms = Vec::new();
    for n in 0..33 {
        let date = jiff::civil::date(2023, 1, 5).saturating_add(jiff::Span::new().days(11 * n));
        let formats = [
            "%Y-%m-%d",
            "%Y/%m/%d",
            "%Y%m%d",
            "%m/%d/%Y",
            "%-m/%-d/%y",
            "%b %-d",
            "%b. %-d, %Y",
            "%B %-d, %Y",
            "%-d %B %Y",
            "%d-%b-%y",
            "%Y年%-m月%-d日",
            "%-m月%-d日",
        ];
        forms.extend(formats.map(|format| date.strftime(format).to_string()));
    }
    for quarter in 1..=4 {
        forms.extend([format!("Q{quarter} 2023"), format!("{quarter}Q23"), format!("2023Q{quarter}")]);
        forms.push(format!("2023年第{quarter}季度"));
    }
    forms.extend(
        ["2023", "FY2023", "FY23", "2023E", "2023年", "二〇二三年", "October 2023"].map(str::to_owned),
    );
    forms
}

/// Whether a text has a form, not as a part of a longer word or number.
fn has(text: &str, form: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(form).any(|(at, _)| {
        let begins = is_word(form.chars().next()) && is_word(text[..at].chars().next_back());
        let ends = is_word(form.chars().next_back()) && is_word(text[at + form.len()..].chars().next());
        !begins && !ends
    })
}

fn days() -> Vec<TradingDay> {
    let mut date: Date = FIRST_DAY.parse().expect("a date");
    let mut days = Vec::new();
    for _ in 0..DAYS {
        days.push(TradingHours::us_equity().day(date).expect("a day"));
        date = date.tomorrow().expect("a date");
    }
    days
}

/// A market whose news has every planted form.
fn planted(forms: &[String]) -> Dataset {
    let mut builder = DatasetBuilder::new("planted", TradingHours::US_ZONE);
    let price = |n: i64| Price(Decimal::new(n, 2));
    let days = days();
    for day in &days {
        builder.day(*day).expect("a day");
    }
    for (at, (symbol, name, _)) in (1..).zip(COMPANIES) {
        builder.instrument(Instrument {
            symbol: symbol.into(),
            name: name.to_owned(),
            currency: "USD".to_owned(),
            instrument_type: InstrumentType::Stock,
        });
        for (n, day) in (0..).zip(&days) {
            let open = 10_000 * at + 7 * n;
            let (high, low, close) = (price(open + 90), price(open - 110), price(open + 30));
            let volume = Quantity(Decimal::from(1_000_000));
            let bar = DailyBar { date: day.date, open: price(open), high, low, close, volume };
            builder.bar(&symbol.into(), bar).expect("a bar");
        }
    }
    for (n, chunk) in forms.chunks(PER_ITEM).enumerate() {
        let symbol: Symbol = COMPANIES[n % COMPANIES.len()].0.into();
        let news = News {
            id: format!("{symbol}-2023-{n}"),
            symbols: vec![symbol],
            source: "Apple Newsroom".to_owned(),
            headline: format!("What {} means", chunk[0]),
            body: Some(chunk.join(" | ")),
            url: Some("https://example.org/aapl/2023-10-03".to_owned()),
        };
        let at = days[0].open - std::time::Duration::from_secs(60 * (n as u64 + 1));
        builder.news(Some(at), news).expect("news");
    }
    builder.build().expect("a dataset")
}

/// Reads the news of everything on each day, then buys what it was offered first.
fn reader(body: &Value) -> ScriptedAnswer {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    match messages.iter().filter(|message| message["role"] == "tool").count() {
        0 => ScriptedAnswer::call("news", "get_news", r#"{"limit": 50}"#),
        _ => ScriptedAnswer::text("Done. <FINISH_SIGNAL>"),
    }
}

fn instructed() -> AgentConfig {
    let instructions = "Prefer Apple Inc. ($AAPL) over 微软; since Oct 3, 2023 it is cheap.".to_owned();
    AgentConfig { instructions: Some(instructions), ..solo() }
}

/// Goal: of more than 500 planted forms of names and dates that the same unmasked job sends to its model, a masked one
/// sends none in any request, and its replay is equal.
#[tokio::test(flavor = "multi_thread")]
async fn no_planted_form_is_in_any_request() {
    let (names, dates) = (planted_names(), planted_dates());
    let forms: Vec<String> = names.iter().chain(&dates).cloned().collect();
    assert!(forms.len() >= 500, "{} forms", forms.len());
    let server = ModelServer::answering(reader).await;
    let data = tempfile::tempdir().expect("a directory");
    let catalogue = Catalogue::at(data.path());
    catalogue.store(&planted(&forms), Some("us_equity"), false).expect("is stored");
    let world = world(&server, catalogue).await;
    let days = days();
    for (masking, hidden) in [
        (None, Vec::new()),
        (Some(MaskKind::Entities), names.clone()),
        (Some(MaskKind::Dates), dates.clone()),
        (Some(MaskKind::All), forms.clone()),
    ] {
        let before = server.count();
        let request = Simulation {
            dataset: Some("planted".to_owned()),
            start_date: Some(days[0].date),
            end_date: Some(days[1].date),
            agents: vec![instructed()],
            masking,
            ..Simulation::default()
        };
        let job = world.run(request).await;
        let row = world.app.store.get_job(&JobId::new(&job)).await.expect("reads").expect("is there");
        assert_eq!(row.status.as_str(), "completed", "{:?}", row.error);
        let report = replay::run(&world.app.services, &row).await.expect("replays");
        assert_eq!((report.equal, report.faults), (2, Vec::new()));
        let requests = server.requests().split_off(before);
        let sent: String = requests.iter().map(|request| request.body.to_string()).collect();
        assert!(!requests.is_empty());
        let found: Vec<&String> = hidden.iter().filter(|form| has(&sent, form)).collect();
        assert!(found.is_empty(), "{masking:?}: {found:?}");
        assert!(!sent.contains("example.org") || masking.is_none());
        let shown = forms.iter().filter(|form| has(&sent, form)).count();
        if masking.is_none() {
            assert_eq!(shown, forms.len(), "an unmasked job sends all of them");
        }
    }
}

/// A job of rule agents over the bundled data.
fn rules(masking: Option<MaskKind>, days: (Date, Date)) -> Simulation {
    Simulation {
        dataset: Some(BUNDLED_NAME.to_owned()),
        start_date: Some(days.0),
        end_date: Some(days.1),
        models: ["house::momentum", "house::contrarian", "house::buy_and_hold"].map(str::to_owned).to_vec(),
        symbols: ["AAPL", "GOOG", "IBM", "MSFT"].map(str::to_owned).to_vec(),
        costs: Some(papertape_core::broker::CostModel::Market),
        initial_cash: Some(1_000_000.into()),
        masking,
        ..Simulation::default()
    }
}

/// By agent: the value at each close and the number of fills, as the API shows them.
async fn results(world: &World, job: &str) -> BTreeMap<String, (Vec<(String, f64)>, Value)> {
    let range = world.good(&format!("/results?job_id={job}")).await;
    let of = |result: &Value| {
        let days = result["daily_portfolio_values"].as_array().expect("days").iter().map(|day| {
            let date = day["date"].as_str().expect("a date").to_owned();
            (date, day["portfolio_value"].as_f64().expect("a value"))
        });
        (result["model"].as_str().expect("a name").to_owned(), (days.collect(), result.clone()))
    };
    range["results"].as_array().expect("results").iter().map(of).collect()
}

/// The bound of docs/masking.md: what one share more or less of each symbol earns, and a cent of fees per fill and day.
fn bound(dataset: &Dataset, days: &[String], equity: f64, symbols: &[&str]) -> f64 {
    let mut sum = 0.0;
    for symbol in symbols {
        let bars = dataset.contents().bars(&(*symbol).into());
        let closes: Vec<(String, f64)> = bars
            .iter()
            .filter_map(|bar| {
                Some((bar.date.to_string(), bar.rest?.close.0.to_string().parse::<f64>().ok()?))
            })
            .collect();
        for pair in closes.windows(2).filter(|pair| days.contains(&pair[1].0)) {
            sum += 1.25 * (pair[1].1 - pair[0].1).abs() + 0.02;
        }
    }
    sum / equity
}

/// Goal: whatever is masked, rule agents with market costs earn the same within the stated bound, over days with a
/// dividend and under dated fees; with dates only masked, exactly the same. Results are shown under real names and
/// dates, and say so; the books are in the masked world.
#[tokio::test(flavor = "multi_thread")]
async fn a_rule_agent_earns_the_same_within_rounding() {
    let world = World::empty().await;
    let span = (jiff::civil::date(2012, 3, 1), jiff::civil::date(2012, 5, 18));
    let plain_job = world.run(rules(None, span)).await;
    let plain = results(&world, &plain_job).await;
    let dataset = world.app.catalogue.open(BUNDLED_NAME).expect("is bundled");
    for kind in MaskKind::ALL {
        let job = world.run(rules(Some(kind), span)).await;
        let masked = results(&world, &job).await;
        for (model, (days, of_plain)) in &plain {
            let (found, result) = &masked[model];
            let dates: Vec<String> = days.iter().map(|(date, _)| date.clone()).collect();
            assert_eq!(found.iter().map(|(date, _)| date.clone()).collect::<Vec<_>>(), dates, "real days");
            let bound = bound(&dataset, &dates, 900_000.0, &["AAPL", "GOOG", "IBM", "MSFT"]);
            assert!(bound < 0.005, "{bound}");
            for ((date, a), (_, b)) in days.iter().zip(found) {
                let difference = (a / b).ln().abs();
                let max = if kind == MaskKind::Dates { 0.0 } else { bound };
                assert!(difference <= max, "{model} {kind} on {date}: {a} {b}, {difference} > {max}");
            }
            assert_eq!(result["masked"]["mask"], kind.as_str());
            assert_eq!(result["history"]["months"][0]["month"], 3, "real months");
            let (a, b) = (&of_plain["baselines"]["equal_weight"], &result["baselines"]["equal_weight"]);
            let total = |it: &Value| it["period_metrics"]["total_return"].as_f64().expect("a return");
            assert!((total(a) - total(b)).abs() <= 2.0 * bound, "the same months are rebalanced: {a} {b}");
            assert_eq!(of_plain["masked"], Value::Null);
        }
        let row = world.app.store.get_job(&JobId::new(&job)).await.expect("reads").expect("is there");
        let config: SimulationConfig = serde_json::from_value(row.config).expect("a config");
        assert_eq!(config.start_date == span.0, !kind.shifts_dates());
        assert_eq!(config.symbols.contains("AAPL"), !kind.replaces_entities());
        assert_eq!(config.initial_cash.0, Decimal::from(1_000_000));
        let shown = world.good(&format!("/jobs/{job}")).await;
        let simulation = &shown["job"]["simulation"];
        assert_eq!(simulation["symbols"], json!(["AAPL", "GOOG", "IBM", "MSFT"]));
        assert_eq!(
            (&simulation["start_date"], &simulation["dataset"]["name"]),
            (&json!("2012-03-01"), &json!(BUNDLED_NAME))
        );
        assert_eq!(simulation["masked"]["mask"], kind.as_str());
        let curves = world.good(&format!("/jobs/{job}/curves")).await;
        assert_eq!(curves["dates"][0], "2012-03-01");
        let first = plain["house::buy_and_hold"].0[0].0.clone();
        let day = world.good(&format!("/results?job_id={job}&date={first}&model=house::buy_and_hold")).await;
        let trades = day["results"][0]["trades"].as_array().expect("trades");
        let traded: Vec<&str> = trades.iter().filter_map(|trade| trade["symbol"].as_str()).collect();
        assert_eq!(
            (day["results"][0]["date"].as_str(), traded),
            (Some(first.as_str()), vec!["AAPL", "GOOG", "IBM", "MSFT"])
        );
        let (session, fill) = (&day["results"][0]["metadata"]["session_id"], &trades[0]["action_id"]);
        let lineage = world.good(&format!("/sessions/{session}/lineage?action_id={fill}")).await;
        assert_eq!((&lineage["symbol"], &lineage["order"]["date"]), (&json!("AAPL"), &json!(first)));
        // The agent's newest job is still the unmasked one.
        let newest = world.good("/results?model=house::momentum").await;
        assert_eq!(newest["results"][0]["job_id"], plain_job);
    }
}

/// Goal: a masked job is compared with an unmasked one only by an experiment that varies the mask; such an experiment
/// runs every arm, and each is compared with each over the same real days.
#[tokio::test(flavor = "multi_thread")]
async fn arms_are_compared_only_where_the_mask_is_varied() {
    let world = World::empty().await;
    let span = (jiff::civil::date(2012, 3, 1), jiff::civil::date(2012, 4, 30));
    let body = json!({
        "simulation": {
            "start_date": "2012-03-01", "end_date": "2012-04-30", "models": ["house::momentum"], "symbols": ["AAPL", "IBM"],
            "initial_cash": 1_000_000, "summaries": false
        },
        "masks": ["none", "dates", "entities", "all"]
    });
    let answer = world.post("/experiments", &body).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    let queued = answer.json();
    let jobs: Vec<String> = queued["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .map(|job| job.as_str().expect("an ID").to_owned())
        .collect();
    assert_eq!(jobs.len(), 4);
    assert_eq!(queued["manifest"]["masks"], body["masks"]);
    for job in &jobs {
        world.work(job).await;
    }
    let id = queued["experiment_id"].as_str().expect("an ID");
    let shown = world.good(&format!("/experiments/{id}")).await;
    assert_eq!(shown["experiment"]["interim"], Value::Null);
    let arms: Vec<&str> =
        shown["jobs"].as_array().expect("jobs").iter().filter_map(|job| job["mask"].as_str()).collect();
    assert_eq!(arms, ["none", "dates", "entities", "all"]);
    let windows = world.good(&format!("/experiments/{id}/results")).await["agents"][0]["windows"].clone();
    assert_eq!(windows.as_array().map(Vec::len), Some(4));
    assert!(windows.as_array().expect("windows").iter().all(|one| one["trials"][0]["is_complete"] == true));

    let compared = world.good(&format!("/compare?select=experiment:{id}&vary=mask")).await;
    let items = compared["items"].as_array().expect("items");
    assert_eq!(
        items.iter().filter_map(|item| item["mask"].as_str()).collect::<Vec<_>>(),
        ["dates", "entities", "all"]
    );
    assert!(items.iter().all(|item| item["start_date"] == "2012-03-01" && item["end_date"] == "2012-04-30"));
    let pairs = compared["pairs"].as_array().expect("pairs");
    assert_eq!(pairs.len(), 6);
    assert!(pairs.iter().all(|pair| pair["mismatches"] == json!([])), "{compared}");
    let of = |a: &str, b: &str| {
        let is = |pair: &&Value| {
            let text = |side: &str| pair[side].as_str().expect("an ID").to_owned();
            let ends = |side: &str, arm: &str| text(side).ends_with(&format!("@{arm}"));
            (ends("a", a) && ends("b", b)) || (ends("a", b) && ends("b", a))
        };
        pairs.iter().find(is).expect("a pair").clone()
    };
    assert_eq!(of("none", "dates")["verdict"], "identical");
    let apart = world.good(&format!("/compare?select=job:{},job:{}", jobs[0], jobs[3])).await;
    let pair = &apart["pairs"][0];
    assert_eq!(pair["verdict"], "not_comparable");
    assert_eq!(pair["mismatches"], json!([{ "what": "mask", "a": "none", "b": "all" }]));
    let one = world
        .good(&format!("/compare?select=experiment:{id}/house::momentum@all,baseline:buy_and_hold"))
        .await;
    assert_eq!(one["pairs"][0]["mismatches"], json!([]), "{one}");

    // A branch is named in real terms, and an error too.
    let cut = BranchRequest {
        agent: None,
        date: jiff::civil::date(2012, 3, 8),
        at: None,
        model: Some("house::contrarian".to_owned()),
        instructions: None,
        sampling: None,
    };
    let branched = branch(&world.app, &JobId::new(&jobs[3]), cut).await.expect("it branches");
    world.work(branched.job.as_str()).await;
    let shown = world.good(&format!("/jobs/{}", branched.job)).await;
    assert_eq!(shown["job"]["simulation"]["branch"]["date"], "2012-03-08");
    let compared = world.good(&format!("/compare?select=job:{},job:{}", jobs[3], branched.job)).await;
    assert_eq!(
        (&compared["branch"]["date"], &compared["pairs"][0]["mismatches"]),
        (&json!("2012-03-08"), &json!([]))
    );
    let weekend = (jiff::civil::date(2012, 3, 3), jiff::civil::date(2012, 3, 4));
    let error =
        trigger(&world.app, rules(Some(MaskKind::All), weekend)).await.expect_err("no day").to_string();
    assert!(error.contains("2012-03-03 to 2012-03-04"), "{error}");
    let mixed = Simulation { memory_from: Some(JobId::new(&jobs[0])), ..rules(Some(MaskKind::All), span) };
    let error = trigger(&world.app, mixed).await.expect_err("another world").to_string();
    assert!(error.starts_with("memory_from"), "{error}");

    // What a masked job cannot be.
    let again = Simulation { start_date: None, ..rules(Some(MaskKind::All), span) };
    assert!(trigger(&world.app, again).await.expect_err("no start").to_string().contains("start_date"));
    let twice = Simulation {
        dataset: Some(format!("masked-all-{}", &dataset_hash(&world)[..12])),
        ..rules(Some(MaskKind::All), span)
    };
    assert!(
        trigger(&world.app, Simulation { symbols: Vec::new(), ..twice })
            .await
            .expect_err("twice")
            .to_string()
            .contains("already masked")
    );
    let bad = world.post("/simulate/trigger", &json!({ "end_date": "2012-10-05", "masking": "names" })).await;
    assert_eq!(bad.status, 400, "{}", bad.text);
    let listed = world.good(&format!("/datasets/masked-all-{}", &dataset_hash(&world)[..12])).await;
    assert_eq!(
        (&listed["masked"]["mask"], &listed["masked"]["source"]),
        (&json!("all"), &json!(BUNDLED_NAME))
    );
}

fn dataset_hash(world: &World) -> String {
    world.app.catalogue.open(BUNDLED_NAME).expect("is bundled").hash().to_hex()
}

//! Runs next to a benchmark: any symbol or index of their dataset.

use crate::api_support::{DAYS, MODELS, World, config, week};
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_core::time::Date;
use papertape_market::Catalogue;
use papertape_runtime::budget::{Budget, Limit};
use papertape_service::app::{Access, App};
use papertape_service::trigger::{Request as Simulation, trigger};
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::data::SmallData;
use serde_json::{Value, json};
use std::sync::Arc;

/// One house model over these days, compared with this.
fn run(start: Date, end: Date, benchmark: &str) -> Simulation {
    Simulation {
        start_date: Some(start),
        end_date: Some(end),
        models: vec![MODELS[0].to_owned()],
        symbols: vec!["IBM".to_owned()],
        summaries: Some(false),
        benchmark: Some(benchmark.to_owned()),
        ..Simulation::default()
    }
}

fn near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
}

/// The only result of a job.
async fn result(world: &World, job: &str, more: &str) -> Value {
    world.good(&format!("/results?job_id={job}{more}")).await["results"][0].clone()
}

/// The daily returns of a list of values.
fn returns(initial: f64, values: &Value) -> Vec<f64> {
    let values = values.as_array().expect("a list").iter();
    let values: Vec<f64> = values.map(|day| day["portfolio_value"].as_f64().expect("a number")).collect();
    let before = std::iter::once(&initial).chain(&values);
    before.zip(&values).map(|(before, value)| value / before - 1.0).collect()
}

// Goal: on the bundled data the benchmark is what one works out from closes, dividends and splits: AAPL's dividend of 2.65 on
// 2012-08-09 is reinvested at that day's close of 620.73, its split of 2005-02-28 changes nothing, and GOOG, which is listed on
// its first day, begins at that day's open. The figures follow from the daily values that stand next to them.
#[tokio::test(flavor = "multi_thread")]
async fn the_benchmark_is_a_total_return() {
    let world = World::empty().await;
    let day = jiff::civil::date;
    let cases = [
        ("AAPL", day(2012, 8, 8), day(2012, 8, 13), ("2012-08-08", 619.39, "first_open"), {
            vec![619.86 / 619.39, (620.73 + 2.65) / 619.86, 621.7 / 620.73, 630.0 / 621.7]
        }),
        ("AAPL", day(2005, 2, 25), day(2005, 3, 1), ("2005-02-25", 89.62, "first_open"), {
            vec![88.99 / 89.62, 2.0 * 44.86 / 88.99, 44.5 / 44.86]
        }),
        ("GOOG", day(2004, 8, 19), day(2004, 8, 23), ("2004-08-19", 100.01, "first_open"), {
            vec![100.335 / 100.01, 108.31 / 100.335, 109.4 / 108.31]
        }),
    ];
    for (symbol, start, end, (from, price, at), growth) in cases {
        let job = world.run(run(start, end, symbol)).await;
        let result = result(&world, &job, "").await;
        let benchmark = &result["benchmark"];
        assert_eq!((&benchmark["symbol"], &benchmark["type"]), (&json!(symbol), &json!("stock")));
        assert_eq!((&benchmark["basis"], &benchmark["unavailable"]), (&json!("total_return"), &Value::Null));
        assert_eq!((&benchmark["start"]["date"], &benchmark["start"]["at"]), (&json!(from), &json!(at)));
        near(&benchmark["start"]["price"], price);
        assert_eq!(benchmark["missing_days"], json!([]));
        let mut value = 100_000.0;
        let values = benchmark["daily_portfolio_values"].as_array().expect("a list");
        assert_eq!(values.len(), growth.len());
        for ((close, growth), own) in
            values.iter().zip(&growth).zip(result["daily_portfolio_values"].as_array().expect("a list"))
        {
            value *= growth;
            assert!((close["portfolio_value"].as_f64().expect("a number") - value).abs() < 1e-6, "{close}");
            assert_eq!(close["date"], own["date"]);
        }
        let total = value / 100_000.0 - 1.0;
        let relative = &benchmark["relative_metrics"];
        near(&relative["benchmark_return"], total);
        near(&benchmark["period_metrics"]["total_return"], total);
        let own = result["period_metrics"]["total_return"].as_f64().expect("a number");
        near(&relative["excess_return"], own - total);
        let (r, b) = (
            returns(100_000.0, &result["daily_portfolio_values"]),
            returns(100_000.0, &benchmark["daily_portfolio_values"]),
        );
        let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
        let (mr, mb) = (mean(&r), mean(&b));
        let cov: f64 = r.iter().zip(&b).map(|(r, b)| (r - mr) * (b - mb)).sum();
        let beta = cov / b.iter().map(|b| (b - mb).powi(2)).sum::<f64>();
        assert!((relative["beta"].as_f64().expect("a number") - beta).abs() < 1e-6, "{relative} {beta}");
    }
}

// Goal: a benchmark is no part of what a run is: with another one, or none, the same days are done and skipped, and the
// fingerprint is the same; a config without one says nothing of it, and the job's record holds with one.
#[tokio::test(flavor = "multi_thread")]
async fn a_benchmark_decides_nothing() {
    let world = World::new().await;
    let row =
        async |job: &str| world.app.store.get_job(&JobId::new(job)).await.expect("reads").expect("is there");
    let plain = row(&world.job).await;
    assert!(plain.config.get("benchmark").is_none(), "{}", plain.config);
    let again = trigger(&world.app, Simulation { benchmark: Some("MSFT".to_owned()), ..week() }).await;
    let again = again.expect("it is queued");
    assert_eq!((again.total_model_days, again.skipped), (10, 10), "{:?}", again.warnings);
    let mut anew = week();
    (anew.benchmark, anew.replace_existing) = (Some("MSFT".to_owned()), true);
    let anew = world.run(anew).await;
    let with = row(&anew).await;
    assert_eq!((&with.config["benchmark"], with.fingerprint), (&json!("MSFT"), plain.fingerprint));
    let verified = world.app.store.verify_chain(&JobId::new(&anew)).await.expect("verifies");
    assert_eq!(verified.broken, None);
    let canonical = async |job: &str| {
        let uri = format!("/results?job_id={job}");
        let mut results = world.good(&uri).await["results"].clone();
        for result in results.as_array_mut().expect("a list") {
            let fields = result.as_object_mut().expect("an object");
            fields.retain(|name, _| {
                !["job_id", "benchmark", "daily_portfolio_values"].contains(&name.as_str())
            });
        }
        results
    };
    assert_eq!(canonical(&anew).await, canonical(&world.job).await, "the days came out alike");
    assert_eq!(world.good(&format!("/jobs/{anew}")).await["job"]["simulation"]["benchmark"], "MSFT");
    assert_eq!(
        world.good(&format!("/results?job_id={}", world.job)).await["results"][0]["benchmark"],
        Value::Null
    );
}

// Goal: results can be read next to another benchmark than the run's own, however often and in whatever order; an unknown one,
// one for a single day and one that cannot begin are errors that name the field and what to do.
#[tokio::test(flavor = "multi_thread")]
async fn another_benchmark_can_be_requested() {
    let world = World::new().await;
    let returns = async |more: &str| {
        let result = result(&world, &world.job, more).await;
        let own = result["period_metrics"]["total_return"].clone();
        (result["benchmark"]["relative_metrics"]["benchmark_return"].clone(), own)
    };
    let (none, own) = returns("").await;
    let (msft, same) = returns("&benchmark=MSFT").await;
    let (ibm, _) = returns("&benchmark=IBM").await;
    assert_eq!((none, &own), (Value::Null, &same));
    // From the open of 2012-10-01 to the close of 2012-10-05: MSFT 29.81 to 29.85, IBM 208.01 to 210.59.
    near(&msft, 29.85 / 29.81 - 1.0);
    near(&ibm, 210.59 / 208.01 - 1.0);
    assert_eq!(returns("&benchmark=MSFT").await.0, msft);
    // Of a part of the days, from the close before them.
    let part = result(&world, &world.job, &format!("&benchmark=IBM&start_date={}", DAYS[2])).await;
    assert_eq!(part["benchmark"]["start"]["date"], DAYS[1]);
    assert_eq!(part["benchmark"]["daily_portfolio_values"].as_array().map(Vec::len), Some(3));

    for (uri, told) in [
        (
            "/results?benchmark=SPX",
            "benchmark: `SPX` is neither a symbol nor an index of us-daily-2000-2013; name one of AAPL",
        ),
        ("/results?benchmark=", "benchmark: `` is neither"),
        (
            "/results?benchmark=IBM&date=2012-10-01",
            "benchmark: only a range is compared with a benchmark; omit `date`",
        ),
    ] {
        let answer = world.get(uri).await;
        assert_eq!(answer.status, 400, "{}", answer.text);
        let message = answer.json()["message"].as_str().unwrap_or_default().to_owned();
        assert!(message.starts_with(told), "{message}");
    }
    let trigger = async |benchmark: &str, start: &str| {
        let body = json!({
            "start_date": start, "end_date": "2012-05-25", "models": [MODELS[0]], "symbols": ["IBM"], "benchmark": benchmark,
        });
        let answer = world.post("/simulate/trigger", &body).await;
        (answer.status.as_u16(), answer.json()["message"].as_str().unwrap_or_default().to_owned())
    };
    let (status, message) = trigger("SPX", "2012-05-01").await;
    assert!(status == 400 && message.contains("benchmark: `SPX` is neither"), "{message}");
    assert!(message.ends_with("or import a dataset that has `SPX`"), "{message}");
    let (status, message) = trigger("FB", "2012-05-01").await;
    assert!(status == 400 && message.contains("benchmark: FB has no bar until 2012-05-18"), "{message}");
    assert_eq!(trigger("FB", "2012-05-18").await.0, 202, "it is listed on the first day");
}

// Goal: a job that has stopped on its way has the benchmark of the days that it has done, and no more.
#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_job_has_the_benchmark_of_its_days() {
    let world = World::empty().await;
    let (start, end) = (jiff::civil::date(2012, 10, 1), jiff::civil::date(2012, 10, 12));
    let whole = world.run(run(start, end, "AAPL")).await;
    let used = world.good(&format!("/jobs/{whole}")).await["job"]["usage"].clone();
    let tokens =
        used["input_tokens"].as_u64().expect("a count") + used["output_tokens"].as_u64().expect("a count");
    let whole = result(&world, &whole, "").await;
    let mut part = run(start, end, "AAPL");
    part.replace_existing = true;
    let limit = Limit { tokens: Some(tokens / 2), usd: None };
    part.budget = Some(Budget { job: limit, ..Budget::default() });
    let part = world.run(part).await;
    let part = result(&world, &part, "").await;
    let values =
        |result: &Value| result["benchmark"]["daily_portfolio_values"].as_array().expect("a list").clone();
    let days = part["daily_portfolio_values"].as_array().map(Vec::len).expect("a list");
    assert!((1..9).contains(&days), "{days} of 10 days");
    assert_eq!(values(&part), values(&whole)[..days]);
}

// Goal: an imported index is a benchmark and nothing else: it is not among the symbols that a run trades by itself, ordering one
// is an error that says what it is for, no session reads a row of it, and the days that it has no level for are named.
#[tokio::test(flavor = "multi_thread")]
async fn an_index_is_compared_with_and_not_traded() {
    let dir = tempfile::tempdir().expect("a directory");
    let stock = [
        ["10", "11", "9", "10"],
        ["10", "12", "9", "11"],
        ["11", "12", "10", "12"],
        ["12", "13", "11", "12"],
    ];
    let level = |close| ["1400", "2000", "1", close];
    let levels = [(0, level("1400")), (1, level("1414")), (3, level("1421"))];
    let data = SmallData::new("2024-03-04", 4).symbol("AAA", &stock).index("SPX", &levels).build();
    let mut catalogue = Catalogue::bundled();
    catalogue.add_with_market(Arc::new(data), "us_equity").expect("a name of its own");
    let store = Store::open(DatabaseTarget::Sqlite(dir.path().join("papertape.db"))).await.expect("it opens");
    let app =
        App::build_with(config(&dir), store, catalogue, papertape::integrations()).expect("it is composed");
    let world = World { router: papertape_api::router(app.clone()), app, job: String::new(), _dir: dir };

    let mut body = json!({
        "start_date": "2024-03-05", "end_date": "2024-03-07", "models": ["house::momentum"], "dataset": "small",
        "benchmark": "SPX", "summaries": false,
    });
    let job =
        world.post("/simulate/trigger", &body).await.json()["job_id"].as_str().expect("a job").to_owned();
    world.work(&job).await;
    let simulation = world.good(&format!("/jobs/{job}")).await["job"]["simulation"].clone();
    assert_eq!((&simulation["symbols"], &simulation["benchmark"]), (&json!(["AAA"]), &json!("SPX")));
    let result = result(&world, &job, "").await;
    let benchmark = &result["benchmark"];
    assert_eq!((&benchmark["type"], &benchmark["basis"]), (&json!("index"), &json!("level")));
    assert_eq!(
        (&benchmark["name"], &benchmark["missing_days"]),
        (&json!("SPX Index"), &json!(["2024-03-06"]))
    );
    let values: Vec<f64> = benchmark["daily_portfolio_values"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|day| day["portfolio_value"].as_f64().expect("a number"))
        .collect();
    assert_eq!(values, [101_000.0, 101_000.0, 101_500.0]);
    near(&benchmark["relative_metrics"]["benchmark_return"], 0.015);
    let said =
        world.good(&format!("/reasoning?job_id={job}&include_full_conversation=true")).await.to_string();
    assert!(said.contains("AAA") && !said.contains("SPX"), "no agent sees it");

    body["symbols"] = json!(["AAA", "SPX"]);
    let answer = world.post("/simulate/trigger", &body).await;
    assert_eq!(answer.status, 400);
    let message = answer.json()["message"].as_str().unwrap_or_default().to_owned();
    assert!(
        message.contains("SPX is an index of small and cannot be traded")
            && message.contains("--benchmark SPX"),
        "{message}"
    );
    let options = world.good("/simulate/options").await;
    let small = options["datasets"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|one| one["name"] == "small")
        .expect("is there");
    assert_eq!((&small["symbols"], &small["indexes"]), (&json!(["AAA"]), &json!(["SPX"])));
    // Results over other data say that they have none; where nobody has it, that is an error.
    let week = world.run(Simulation { models: vec![MODELS[0].to_owned()], ..week() }).await;
    let both = world.good("/results?benchmark=SPX").await;
    let of = |model: &str| {
        both["results"].as_array().expect("a list").iter().find(|one| one["model"] == model).cloned()
    };
    assert_eq!(
        of(MODELS[0]).expect("a result")["benchmark"]["unavailable"],
        "us-daily-2000-2013 does not have it"
    );
    assert_eq!(world.get(&format!("/results?job_id={week}&benchmark=SPX")).await.status, 400);
}

// Goal: a configured benchmark is every run's that names none, as far as its data have it: where they do not, the run has none
// and a warning says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_configured_benchmark_goes_as_far_as_the_data() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = config(&dir);
    config.simulation.benchmark = Some("FB".to_owned());
    let app = App::open(config, Access::Own, papertape::integrations()).await.expect("it opens");
    let world = World { router: papertape_api::router(app.clone()), app, job: String::new(), _dir: dir };
    let run = async |start: &str, end: &str, benchmark: Option<&str>| {
        let body = json!({
            "start_date": start, "end_date": end, "models": [MODELS[0]], "symbols": ["IBM"], "benchmark": benchmark,
        });
        let queued = world.post("/simulate/trigger", &body).await.json();
        let job = queued["job_id"].as_str().unwrap_or_else(|| panic!("{queued}"));
        let simulation = world.good(&format!("/jobs/{job}")).await["job"]["simulation"].clone();
        (simulation["benchmark"].clone(), queued["warnings"].to_string())
    };
    assert_eq!(run("2012-10-01", "2012-10-05", None).await.0, "FB");
    assert_eq!(run("2012-10-01", "2012-10-05", Some("AAPL")).await.0, "AAPL");
    let (none, warnings) = run("2012-05-01", "2012-05-04", None).await;
    assert_eq!(none, Value::Null);
    assert!(warnings.contains("the run has no benchmark") && warnings.contains("2012-05-18"), "{warnings}");
    assert_eq!(world.good("/simulate/options").await["defaults"]["benchmark"], "FB");
}

//! Comparisons through the real router: constructed daily values, known answers, and every verdict.

use crate::api_support::{World, week};
use papertape_core::time::Date;
use papertape_market::Catalogue;
use papertape_service::trigger::Request as Simulation;
use serde_json::{Value, json};

const A: &str = "house::momentum";
const B: &str = "house::contrarian";
const CASH: f64 = 10_000.0;

/// A database whose daily values can be set.
pub(crate) struct Lab(pub(crate) World);

/// `level + width (u - 0.5)`, `u` of the generator of the known answers.
pub(crate) fn uniform(seed: u64, n: usize, level: f64, width: f64) -> Vec<f64> {
    let mut x = seed;
    let mut next = || {
        x = (1_103_515_245 * x + 12_345) % (1 << 31);
        x as f64 / (1_u64 << 31) as f64
    };
    (0..n).map(|_| level + width * (next() - 0.5)).collect()
}

fn series_a(n: usize) -> Vec<f64> {
    uniform(1, n, 0.001, 0.04)
}

fn series_b(n: usize) -> Vec<f64> {
    uniform(2, n, 0.0005, 0.03)
}

pub(crate) fn trading_days(n: usize) -> (Date, Date) {
    let dataset = Catalogue::bundled().open("us-daily-2000-2013").expect("bundled");
    let days = dataset.trading_days(jiff::civil::date(2011, 1, 3), jiff::civil::date(2013, 12, 31));
    (days[0].date, days[n - 1].date)
}

#[track_caller]
pub(crate) fn close(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{found} is not a number"));
    // Known answers have 10 or 11 digits.
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{found} is not {expected}");
}

impl Lab {
    pub(crate) async fn new() -> Self {
        Self(World::empty().await)
    }

    /// A finished job of agents over so many days. Its orders fill at the next open, so that its refilled values are its own.
    pub(crate) async fn job(&self, seed: u64, days: usize, agents: &[&str]) -> String {
        let (start, end) = trading_days(days);
        let request = Simulation {
            start_date: Some(start),
            end_date: Some(end),
            models: agents.iter().map(|name| (*name).to_owned()).collect(),
            symbols: vec!["IBM".to_owned()],
            seed: Some(seed),
            summaries: Some(false),
            ..week()
        };
        let job = self.0.run(request).await;
        self.edit(&format!(
            "UPDATE job_configs SET config = json_set(config, '$.market.fill_model', 'next_open')
             WHERE job_id = '{job}'"
        ));
        job
    }

    fn file(&self) -> rusqlite::Connection {
        let file = self.0.app.config.data_dir.join("papertape.db");
        let connection = rusqlite::Connection::open(file).expect("opens");
        connection.busy_timeout(std::time::Duration::from_secs(10)).expect("waits");
        connection
    }

    pub(crate) fn edit(&self, sql: &str) {
        assert!(self.file().execute(sql, []).expect("edits") > 0, "{sql}");
    }

    /// Sets an agent's values at the closes from its returns.
    pub(crate) fn set(&self, job: &str, agent: &str, returns: &[f64]) {
        let mut file = self.file();
        let dates: Vec<String> = file
            .prepare("SELECT date FROM trading_sessions WHERE job_id = ?1 AND model = ?2 ORDER BY date")
            .and_then(|mut found| found.query_map([job, agent], |row| row.get(0))?.collect())
            .expect("reads");
        assert_eq!(dates.len(), returns.len(), "{agent}");
        let change = file.transaction().expect("begins");
        let mut value = CASH;
        for (date, r) in dates.iter().zip(returns) {
            let before = format!("{value:.13}");
            value *= 1.0 + r;
            let sql = "UPDATE trading_sessions SET portfolio_value = ?1,
                 starting_position = json_set(starting_position, '$.portfolio_value', ?2)
                 WHERE job_id = ?3 AND model = ?4 AND date = ?5";
            let row = rusqlite::params![format!("{value:.13}"), before, job, agent, date];
            change.execute(sql, row).expect("edits");
        }
        change.commit().expect("commits");
    }

    /// A job of two agents with these returns.
    async fn pair(&self, seed: u64, a: &[f64], b: &[f64]) -> String {
        let job = self.job(seed, a.len(), &[A, B]).await;
        self.set(&job, A, a);
        self.set(&job, B, b);
        job
    }

    async fn compare(&self, select: &str) -> Value {
        self.0.good(&format!("/compare?select={select}")).await
    }

    /// The only pair of a comparison.
    async fn only(&self, select: &str) -> Value {
        let found = self.compare(select).await;
        assert_eq!(found["pairs"].as_array().map(Vec::len), Some(1), "{found}");
        found["pairs"][0].clone()
    }

    /// Adds an experiment whose trials are these jobs, of one window.
    pub(crate) fn experiment(
        &self,
        jobs: &[&str],
        trials: [usize; 2],
        days: usize,
        compare: &str,
    ) -> &'static str {
        let (start, end) = trading_days(days);
        let agent = |name: &str, trials: usize| json!({ "name": name, "is_llm": false, "trials": trials, "varies_by": "chance", "note": null });
        let manifest = json!({
            "version": 1, "config": {}, "config_hash": "0", "trials": jobs.len(), "seeds": vec![1; jobs.len()],
            "agents": [agent(A, trials[0]), agent(B, trials[1])],
            "windows": [{ "start_date": start, "end_date": end, "days": days }],
            "planned_last_day": end, "planned_jobs": jobs.len(), "compare": compare,
            "budget": { "tokens": null, "usd": null },
        });
        let file = self.file();
        file.execute(
            "INSERT INTO experiments (experiment_id, created_at, manifest, hash) VALUES ('trial-runs', 1, ?1, ?2)",
            rusqlite::params![manifest.to_string(), vec![0_u8; 32]],
        )
        .expect("adds");
        for (trial, job) in (1..).zip(jobs) {
            file.execute(
                "INSERT INTO experiment_jobs (job_id, experiment_id, window_number, trial) VALUES (?1, 'trial-runs', 1, ?2)",
                rusqlite::params![job, trial],
            )
            .expect("adds");
        }
        "trial-runs"
    }
}

/// Goal: the difference, its t and p, the Sharpe ratio and the difference of two are those of the method's table, from the values
/// in the database to the response. Under 60 days nothing is annualized, and there is no Sharpe ratio.
#[tokio::test(flavor = "multi_thread")]
async fn differences_have_the_known_answers() {
    let lab = Lab::new().await;
    let table = [
        (20, -0.001_004_400_490_2, 0.000_603_476_647_61, -0.182_848_616_75, 0.860_938_794_13),
        (60, 0.001_738_445_610_5, 0.000_503_190_679_48, 0.600_302_896_56, 0.559_470_924_98),
        (250, 0.000_605_440_389_96, 0.000_306_636_688_43, 0.546_675_154_59, 0.588_393_974_86),
    ];
    let sharpes = [
        None,
        Some((0.196_254_663_79, 0.158_026_698_53, 0.145_554_325_21, 0.285_880_438_36)),
        Some((0.075_778_320_604, 0.071_015_314_786, 0.053_489_267_882, 0.112_479_802_6)),
    ];
    for (seed, ((n, mean, omega, t, p), sharpe)) in (1..).zip(table.into_iter().zip(sharpes)) {
        let job = lab.pair(seed, &series_a(n), &series_b(n)).await;
        let found = lab.compare(&format!("job:{job}/{A},job:{job}/{B}")).await;
        let pair = &found["pairs"][0];
        let difference = &pair["difference"];
        close(&difference["mean_daily"], mean);
        close(&difference["t"], t);
        close(&difference["p_value"], p);
        close(&difference["standard_error"], (omega / n as f64).sqrt());
        assert_eq!(pair["holm_p"], difference["p_value"], "a family of one");
        let is_long = n >= 60;
        assert_eq!(pair["verdict"], if is_long { "not_distinguishable" } else { "too_few_days" });
        assert_eq!(difference["per_year"].is_number(), is_long, "{difference}");
        assert_eq!(difference["annualized_unavailable"] == "too_few_days", !is_long);
        assert_eq!(pair["min_detectable_points"].is_number(), is_long);
        let (own, both) = (&found["items"][0]["sharpe"], &pair["sharpe"]);
        let Some((s, se, difference, se_difference)) = sharpe else {
            assert!(own.is_null() && both.is_null(), "{own} {both}");
            assert_eq!(found["items"][0]["sharpe_unavailable"], "too_few_days");
            continue;
        };
        let count = n as f64;
        let year = ((count - 1.0) / count * 252.0).sqrt();
        let critical = papertape_evidence::t_quantile(0.975, papertape_evidence::cosine_count(n) as f64);
        for (found, s, se) in [(own, s, se), (both, difference, se_difference)] {
            close(&found["annualized"], s * year);
            close(&found["interval"]["low"], (s - critical * se) * year);
            close(&found["interval"]["high"], (s + critical * se) * year);
        }
        let secondary = &found["items"][0]["secondary"];
        if n == 60 {
            close(&secondary["daily_sharpe"], 0.194_612_336_47);
            close(&secondary["probabilistic_sharpe"], 0.931_058_970_47);
        }
        // On the last day the cone is as wide as the interval of the total, and the path ends at the total.
        let last = pair["cone"].as_array().and_then(|cone| cone.last()).expect("a cone").clone();
        let difference = &pair["difference"];
        close(&last["cumulated"], difference["total"].as_f64().expect("a total"));
        let high = difference["total_interval"]["high"].as_f64().expect("a bound");
        close(&last["half_width"], high - difference["total"].as_f64().expect("a total"));
    }
}

/// Goal: of several trials, the two-way estimate is that of the method's table: three trials each, and three against one without
/// trial noise. The trials' spread is shown and is no verdict.
#[tokio::test(flavor = "multi_thread")]
async fn trials_have_the_known_answers() {
    let lab = Lab::new().await;
    let mut jobs = Vec::new();
    for trial in 1..=3 {
        let mut a = uniform(trial, 60, 0.001, 0.04);
        if trial == 1 {
            // 0.004 is added to log returns.
            a = a.iter().map(|r| (r.ln_1p() + 0.004).exp_m1()).collect();
        }
        let b = uniform(trial + 3, 60, 0.0005, 0.03);
        jobs.push(lab.pair(trial, &a, &b).await);
    }
    let ids: Vec<&str> = jobs.iter().map(String::as_str).collect();
    let experiment = lab.experiment(&ids, [3, 3], 60, "all_pairs");
    let found = lab.compare(&format!("experiment:{experiment}")).await;
    let pair = &found["pairs"][0];
    assert_eq!(
        (&pair["estimand"], &pair["verdict"]),
        (&json!("configurations"), &json!("not_distinguishable"))
    );
    assert_eq!(
        (&found["family"]["kind"], &found["family"]["declared_by"]),
        (&json!("all_pairs"), &json!(experiment))
    );
    let fewer = lab.compare(&format!("experiment:{experiment}/{A},baseline:buy_and_hold")).await;
    assert!(fewer["family"]["declared_by"].is_null(), "another family: {}", fewer["family"]);
    let difference = &pair["difference"];
    close(&difference["mean_daily"], 0.001_816_100_934_8);
    close(&pair["variance"]["days"], 1.136_717_104_4e-6);
    close(
        &pair["variance"]["trials"],
        (4.014_105_331_7e-6 - 1.407_499_745_9e-6) + (4.775_918_318_2e-7 - 4.540_679_385_2e-7),
    );
    close(&difference["degrees_of_freedom"], 7.723_774_550_8);
    close(&difference["t"], 0.935_730_995_99);
    close(&difference["p_value"], 0.377_740_264_19);
    assert!(pair["trial_spread"]["p_value"].is_number(), "{pair}");
    assert!(found["items"][0]["sharpe"].is_null());
    assert_eq!(found["items"][0]["sharpe_unavailable"], "several_trials");

    // The third answer: A's trials without the addition, and B once.
    lab.set(&jobs[0], A, &uniform(1, 60, 0.001, 0.04));
    lab.set(&jobs[0], B, &uniform(20, 60, 0.0003, 0.02));
    for job in &jobs[1..] {
        lab.edit(&format!("DELETE FROM job_details WHERE job_id = '{job}' AND model = '{B}'"));
    }
    let pair = lab.only(&format!("experiment:{experiment}")).await;
    let difference = &pair["difference"];
    close(&difference["mean_daily"], 0.000_718_323_519_62);
    close(&pair["variance"]["days"], 1.187_293_461_2e-6);
    close(&pair["variance"]["trials"], 0.0);
    close(&difference["t"], 0.659_236_201_76);
    close(&difference["p_value"], 0.522_194_158_19);

    // Two trials support no claim.
    lab.edit(&format!("DELETE FROM experiment_jobs WHERE job_id = '{}'", jobs[2]));
    let pair = lab.only(&format!("experiment:{experiment}")).await;
    assert_eq!(
        (&pair["verdict"], &pair["mismatches"][0]["what"]),
        (&json!("not_comparable"), &json!("trials"))
    );
}

/// Returns that beat others clearly: the same noise, and a drift.
fn ahead(n: usize) -> (Vec<f64>, Vec<f64>) {
    let noise = uniform(7, n, 0.0, 0.01);
    (uniform(8, n, 0.003, 0.01), noise)
}

/// Goal: each verdict is reached, says why, and its sign is that of the returns.
#[tokio::test(flavor = "multi_thread")]
async fn every_verdict_is_reached_with_its_reason() {
    let lab = Lab::new().await;
    let (good, bad) = ahead(60);
    let job = lab.pair(1, &good, &bad).await;
    let (a, b) = (format!("job:{job}/{A}"), format!("job:{job}/{B}"));
    let verdict = async |select: &str| {
        let pair = lab.only(select).await;
        let reasons =
            pair["reasons"].as_array().expect("reasons").iter().map(|one| one.as_str().expect("a text"));
        let reasons = reasons.collect::<Vec<_>>().join("; ");
        assert!(!reasons.is_empty(), "{pair}");
        (pair["words"].as_str().expect("words").to_owned(), reasons)
    };
    let better = verdict(&format!("{a},{b}")).await;
    assert_eq!(better.0, "better", "{}", better.1);
    assert!(better.1.contains("next open") && better.1.contains("net of model cost"), "{}", better.1);
    assert_eq!(verdict(&format!("{b},{a}")).await.0, "worse");
    let pair = lab.only(&format!("{a},{b}")).await;
    assert_eq!(pair["estimand"], "two_runs");
    assert_eq!(pair["claim"], "this run of A and this run of B, on days like these");

    // The same values, but the orders would have had others at the next open.
    lab.edit(&format!(
        "UPDATE job_configs SET config = json_set(config, '$.market.fill_model', 'open') WHERE job_id = '{job}'"
    ));
    let fill = verdict(&format!("{a},{b}")).await;
    assert_eq!(fill.0, "not distinguishable (depends on the fill)", "{}", fill.1);
    lab.edit(&format!(
        "UPDATE job_configs SET config = json_set(config, '$.market.fill_model', 'next_open') WHERE job_id = '{job}'"
    ));

    // Model cost takes the lead; then its price is unknown.
    lab.edit(&format!(
        "UPDATE trading_sessions SET cost_usd = '30' WHERE job_id = '{job}' AND model = '{A}'"
    ));
    let cost = verdict(&format!("{a},{b}")).await;
    assert_eq!(cost.0, "not distinguishable (depends on model cost)", "{}", cost.1);
    let item = &lab.compare(&format!("{a},{b}")).await["items"][0];
    assert_eq!(item["model_cost_usd"], 1800);
    let (gross, net) =
        (item["total_return"].as_f64().expect("gross"), item["net_total_return"].as_f64().expect("net"));
    assert!((gross - net - 0.18).abs() < 1e-9, "{gross} {net}");
    lab.edit(&format!(
        "UPDATE trading_sessions SET unpriced_calls = 1 WHERE job_id = '{job}' AND model = '{A}'"
    ));
    let unpriced = verdict(&format!("{a},{b}")).await;
    assert!(unpriced.0.contains("model cost") && unpriced.1.contains("unknown"), "{unpriced:?}");
    lab.edit(&format!(
        "UPDATE trading_sessions SET unpriced_calls = 0, cost_usd = '0' WHERE job_id = '{job}' AND model = '{A}'"
    ));

    // Net of cost B loses everything: the days before it say nothing.
    lab.edit(&format!(
        "UPDATE trading_sessions SET cost_usd = '400' WHERE job_id = '{job}' AND model = '{B}'"
    ));
    let ruin = verdict(&format!("{a},{b}")).await;
    assert!(ruin.0.contains("depends on model cost") && ruin.1.contains("loses everything"), "{ruin:?}");
    assert!(lab.compare(&format!("{a},{b}")).await["items"][1]["net_total_return"].is_null());
    lab.edit(&format!("UPDATE trading_sessions SET cost_usd = '0' WHERE job_id = '{job}'"));

    // A run of an experiment is as interim as the experiment.
    lab.experiment(&[&job], [1, 1], 60, "all_pairs");
    lab.edit("UPDATE experiments SET manifest = json_set(manifest, '$.planned_jobs', 2)");
    let interim = verdict(&format!("{a},{b}")).await;
    assert!(interim.0 == "interim" && interim.1.contains("1 of 2 planned runs"), "{interim:?}");
    lab.edit("DELETE FROM experiment_jobs");

    // Interim comes before everything that a look could find.
    lab.edit(&format!(
        "UPDATE job_details SET status = 'queued' WHERE job_id = '{job}' AND model = '{B}'
         AND date = (SELECT max(date) FROM job_details)"
    ));
    let interim = verdict(&format!("{a},{b}")).await;
    assert_eq!(interim, ("interim".to_owned(), format!("{B}: 59 of 60 planned days have ended")));
    lab.edit(&format!("UPDATE job_details SET status = 'completed' WHERE job_id = '{job}'"));

    lab.set(&job, B, &good);
    assert_eq!(verdict(&format!("{a},{b}")).await.0, "identical");
    // Different on 20 of 60 days only.
    let few: Vec<f64> = (0..60).map(|day| if day < 20 { bad[day] } else { good[day] }).collect();
    lab.set(&job, B, &few);
    let few = verdict(&format!("{a},{b}")).await;
    assert_eq!(few, ("too few days".to_owned(), "20 days with a difference; a verdict needs 30".to_owned()));
    let mut ruined = bad.clone();
    ruined[40] = -1.2;
    lab.set(&job, B, &ruined);
    let insolvent = verdict(&format!("{a},{b}")).await;
    assert_eq!(insolvent.0, "insolvent");
    assert!(insolvent.1.starts_with(&format!("{B} lost everything on ")), "{}", insolvent.1);
    let item = &lab.compare(&format!("{a},{b}")).await["items"][1];
    for figure in ["mean", "sharpe", "secondary", "reorder_band", "total_return"] {
        assert!(item[figure].is_null(), "{figure}: {item}");
    }
    assert_eq!(item["sharpe_unavailable"], "insolvent");
    assert!(item["max_drawdown"].as_f64().is_some_and(|fall| fall < -1.0), "{item}");

    let shorter = lab.pair(2, &good[..5], &bad[..5]).await;
    let other = verdict(&format!("{a},job:{shorter}/{B}")).await;
    assert_eq!(other.0, "not comparable");
    assert!(other.1.starts_with("different days: 2011-01-03 to "), "{}", other.1);
    let few = verdict(&format!("job:{shorter}/{A},job:{shorter}/{B}")).await;
    assert!(
        few.1.contains("5 shared days; a verdict needs 60") && few.1.contains("an interval needs 20"),
        "{}",
        few.1
    );
}

/// Goal: runs under other costs are not compared, and the difference is named, unless the experiment varies costs; with
/// `vary=model`, agents may differ in nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn only_like_is_compared() {
    let lab = Lab::new().await;
    let (good, bad) = ahead(60);
    let (one, two) = (lab.pair(1, &good, &bad).await, lab.pair(2, &good, &bad).await);
    let set = |path: &str, value: &str| {
        lab.edit(&format!(
            "UPDATE job_configs SET config = json_set(config, '{path}', {value}) WHERE job_id = '{two}'"
        ));
    };
    let select = format!("job:{one}/{A},job:{two}/{B}");
    let what = async |query: &str| {
        let pair = lab.only(&format!("{select}{query}")).await;
        let what = pair["mismatches"].as_array().expect("a list").iter().map(|one| one["what"].clone());
        (pair["verdict"].clone(), what.collect::<Vec<_>>())
    };
    assert_eq!(what("").await, (json!("better"), vec![]));
    set("$.market.slippage_bps", "'5'");
    assert_eq!(what("").await, (json!("not_comparable"), vec![json!("costs")]));
    assert_eq!(what("&vary=costs").await, (json!("better"), vec![]));
    assert_eq!(what("&vary=mask").await.1, [json!("costs")]);
    set("$.market.lot", "'10'");
    assert_eq!(what("&vary=costs").await.1, [json!("market")]);
    lab.edit(&format!(
        "UPDATE job_configs SET config = (SELECT config FROM job_configs WHERE job_id = '{one}') WHERE job_id = '{two}'"
    ));
    assert_eq!(what("&vary=model").await, (json!("better"), vec![]));
    set("$.agents[1].instructions", "'Buy low.'");
    assert_eq!(what("&vary=model").await, (json!("not_comparable"), vec![json!("prompts")]));
    assert_eq!(what("&vary=model,prompt").await, (json!("better"), vec![]));
    assert_eq!(what("").await.0, "better", "agents are compared as they are");
    set("$.symbols", "json('[\"AAPL\"]')");
    assert_eq!(what("").await.1, [json!("universe")]);
}

/// Goal: days of fallback count in the verdict, stand apart as profit and loss, and the days of full research have a difference
/// without a verdict.
#[tokio::test(flavor = "multi_thread")]
async fn fallback_days_are_apart() {
    let lab = Lab::new().await;
    let (a, b) = (series_a(60), series_b(60));
    let job = lab.pair(1, &a, &b).await;
    lab.edit(&format!(
        "UPDATE trading_sessions SET metadata = json_set(metadata, '$.data_quality',
             json('{{\"state\": \"research_degraded\", \"reason_codes\": [\"bull_timeout\"]}}'))
         WHERE job_id = '{job}' AND model = '{A}' AND date <= (SELECT date FROM trading_sessions ORDER BY date LIMIT 1)"
    ));
    let found = lab.compare(&format!("job:{job}")).await;
    let item =
        &found["items"].as_array().expect("items").iter().find(|item| item["label"] == A).expect("A").clone();
    assert_eq!((&item["fallback_days"], &item["full_research_days"]), (&json!(1), &json!(59)));
    close(&item["fallback_log_return"], a[0].ln_1p());
    let pair = &found["pairs"][0];
    let sign = if pair["a"] == item["id"] { 1.0 } else { -1.0 };
    let (all, full) = (&pair["difference"], &pair["full_research"]);
    assert_eq!((&all["days"], &full["days"]), (&json!(60), &json!(59)));
    let first = sign * (a[0].ln_1p() - b[0].ln_1p());
    close(&full["total"], all["total"].as_f64().expect("a number") - first);
    assert!(full["interval"].is_object() && full.get("verdict").is_none());
}

/// Goal: baselines and symbols are compared on the agent's days; a family against one has a test per agent, and ranks are sets
/// over all pairs. What cannot be selected is an error that names the field.
#[tokio::test(flavor = "multi_thread")]
async fn families_baselines_and_errors() {
    let lab = Lab::new().await;
    let (good, bad) = ahead(60);
    let job = lab.pair(1, &good, &bad).await;
    let found = lab.compare(&format!("job:{job},baseline:buy_and_hold,symbol:IBM")).await;
    let family = &found["family"];
    assert_eq!(
        (&family["kind"], &family["tests"]),
        (&json!("all_pairs"), &json!(5)),
        "no pair of two baselines"
    );
    let results = lab.0.good(&format!("/results?job_id={job}&model={A}&benchmark=IBM")).await;
    let result = &results["results"][0];
    for (id, total) in [
        ("baseline:buy_and_hold", &result["baselines"]["buy_and_hold"]["period_metrics"]["total_return"]),
        ("symbol:IBM", &result["benchmark"]["relative_metrics"]["benchmark_return"]),
    ] {
        let item =
            found["items"].as_array().expect("items").iter().find(|item| item["id"] == id).expect("an item");
        close(&item["total_return"], total.as_f64().expect("a return"));
    }
    let rank = |label: &str| {
        let item = found["items"].as_array().expect("items").iter().find(|item| item["label"] == label);
        item.expect("an item")["rank"].clone()
    };
    assert_eq!(rank(A)["best"], 1);
    assert!(rank(B)["best"].as_u64() > Some(1), "{}", rank(B));
    let against = lab.compare(&format!("job:{job}&against=buy_and_hold")).await;
    assert_eq!(against["family"]["against"], "baseline:buy_and_hold");
    assert_eq!(against["pairs"].as_array().map(Vec::len), Some(2));
    assert!(
        against["pairs"]
            .as_array()
            .expect("pairs")
            .iter()
            .all(|pair| pair["estimand"] == "run_against_baseline")
    );
    assert!(against["any_better"]["p_value"].is_number());
    assert!(against["items"][0]["rank"].is_null(), "ranks need all pairs");
    for (uri, status, says) in [
        (format!("job:{job}/{A}"), 400, "select at least two"),
        (format!("job:{job},baseline:random_walk"), 400, "unknown baseline"),
        ("baseline:buy_and_hold,symbol:IBM".to_owned(), 400, "at least one agent"),
        (format!("job:{job},symbol:XYZ"), 400, "neither a symbol nor an index"),
        (format!("job:{job}&vary=luck"), 400, "unknown `luck`"),
        (format!("job:{job}&against=nobody"), 400, "is not compared"),
        (format!("job:{job}&points=0"), 400, "above 0"),
        ("nothing,latest".to_owned(), 404, "no job or experiment nothing"),
        (format!("job:{job}/nobody,latest"), 404, "no agent nobody"),
    ] {
        let answer = lab.0.get(&format!("/compare?select={uri}")).await;
        assert_eq!(answer.status, status, "{uri}: {}", answer.text);
        assert!(answer.text.contains(says), "{uri}: {}", answer.text);
    }
}

/// Goal: whatever the values, no verdict and no difference contradicts the sign of the displayed returns.
#[tokio::test(flavor = "multi_thread")]
async fn no_verdict_contradicts_the_returns() {
    let lab = Lab::new().await;
    let job = lab.pair(1, &series_a(60), &series_b(60)).await;
    let mut seen = std::collections::BTreeSet::new();
    for case in 0..24_u64 {
        let drift = [0.0, 0.002, -0.002, 0.004][case as usize % 4];
        lab.set(&job, A, &uniform(100 + case, 60, drift, 0.02));
        lab.set(&job, B, &uniform(200 + case, 60, -drift / 2.0, 0.015));
        let pair = lab.only(&format!("job:{job}/{A},job:{job}/{B}")).await;
        let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"));
        let ahead = number(&pair["return_a"]) - number(&pair["return_b"]);
        let total = number(&pair["difference"]["total"]);
        assert!(ahead * total > 0.0, "{ahead} {total}");
        let verdict = pair["verdict"].as_str().expect("a verdict").to_owned();
        match verdict.as_str() {
            "better" => assert!(ahead > 0.0, "{pair}"),
            "worse" => assert!(ahead < 0.0, "{pair}"),
            other => assert_eq!(other, "not_distinguishable"),
        }
        seen.insert(verdict);
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
}

/// Goal: the deflated Sharpe ratio counts each configuration that ran on these days once, whatever its seed, and a family of one
/// configuration has none.
#[tokio::test(flavor = "multi_thread")]
async fn past_configurations_count_once() {
    let lab = Lab::new().await;
    let job = lab.job(1, 60, &[A]).await;
    lab.set(&job, A, &series_a(60));
    let secondary = async || {
        lab.compare(&format!("job:{job}/{A},baseline:buy_and_hold")).await["items"][0]["secondary"].clone()
    };
    let alone = secondary().await;
    assert_eq!((&alone["configurations"], &alone["deflated_sharpe"]), (&json!(1), &Value::Null));
    let again = lab.job(2, 60, &[A]).await;
    lab.set(&again, A, &uniform(3, 60, 0.001, 0.04));
    assert_eq!(secondary().await["configurations"], 1, "another seed is another trial");
    let other = lab.job(3, 60, &[B]).await;
    lab.set(&other, B, &series_b(60));
    let two = secondary().await;
    assert_eq!(two["configurations"], 2);
    let (psr, dsr) = (two["probabilistic_sharpe"].as_f64(), two["deflated_sharpe"].as_f64());
    assert!(dsr < psr && dsr.is_some(), "{two}");
}

/// Goal: an agent is tested against its own turnover at random, with the same result when it is asked again; one symbol has no
/// choice, and a run without trades allows no test.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_compared_with_random_timing_and_choice() {
    let lab = Lab::new().await;
    let (start, end) = trading_days(120);
    let job = lab
        .0
        .run(Simulation {
            start_date: Some(start),
            end_date: Some(end),
            models: vec![A.to_owned()],
            symbols: ["AAPL", "IBM", "MSFT"].map(str::to_owned).to_vec(),
            initial_cash: Some(100_000.into()),
            summaries: Some(false),
            ..week()
        })
        .await;
    let select = format!("job:{job}/{A},baseline:random");
    let found = lab.compare(&select).await;
    assert_eq!(found["pairs"], json!([]));
    let random = &found["random"][0];
    let timing = &random["nulls"][0];
    let p = timing["p_value"].as_f64().unwrap_or_else(|| panic!("{random}"));
    assert!((0.001..=1.0).contains(&p) && timing["draws"] == 999, "{timing}");
    assert_eq!(random["nulls"][1]["p_value"], Value::Null, "three symbols have six orders");
    assert!(random["nulls"][2]["p_value"].is_number());
    // The agent's own schedule through the same broker is close to what it did.
    let own = random["schedule_return"].as_f64().expect("a return");
    let actual = found["items"][0]["total_return"].as_f64().expect("a return");
    assert!((own - actual).abs() < 0.05, "{own} {actual}");
    assert_eq!(lab.compare(&select).await["random"], found["random"], "cached, with the time that it took");
    println!("random baseline of 120 days, 3 symbols: {} ms", random["elapsed_ms"]);
}

/// Goal: results say n, an interval from 20 days on, and nothing per year under 60 days; from 60 days on the interval holds
/// the ratio; VaR needs 100 days; parts of the range add up.
#[tokio::test(flavor = "multi_thread")]
async fn results_have_no_bare_numbers() {
    let lab = Lab::new().await;
    for (seed, n) in [(1, 5), (2, 59), (3, 60), (4, 120)] {
        let job = lab.job(seed, n, &[A]).await;
        lab.set(&job, A, &series_a(n));
        let results = lab.0.good(&format!("/results?job_id={job}&benchmark=IBM")).await;
        let result = &results["results"][0];
        let metrics = &result["period_metrics"];
        assert_eq!(metrics["days"], n);
        for metrics in [metrics, &result["baselines"]["buy_and_hold"]["period_metrics"]] {
            for name in ["annualized_return", "volatility", "sharpe", "sortino"] {
                assert_eq!(metrics[name].is_number(), n >= 60, "{n} {name}: {metrics}");
            }
            assert_eq!(metrics["annualized_unavailable"] == "too_few_days", n < 60);
            assert!(metrics["calmar"].is_null() && metrics["daily_deviation"].is_number());
        }
        for name in ["alpha", "tracking_error", "information_ratio"] {
            assert_eq!(result["benchmark"]["relative_metrics"][name].is_number(), n >= 60, "{n} {name}");
        }
        assert_eq!(metrics["mean_interval"].is_object(), n >= 20);
        assert_eq!(metrics["value_at_risk"].is_number(), n >= 100);
        if n >= 60 {
            let bound = |name: &str| metrics["sharpe_interval"][name].as_f64().expect("a bound");
            let sharpe = metrics["sharpe"].as_f64().expect("a ratio");
            assert!(bound("low") < sharpe && sharpe < bound("high"));
        }
        let history = &result["history"];
        let months = history["months"].as_array().expect("months");
        let grown = months
            .iter()
            .map(|month| 1.0 + month["total_return"].as_f64().expect("a return"))
            .product::<f64>();
        close(&metrics["total_return"], grown - 1.0);
        assert_eq!(months[0]["is_partial"], n < 20, "January 2011 has 20 days");
        let deepest = history["drawdowns"][0]["depth"].as_f64().unwrap_or_default();
        close(&metrics["max_drawdown"], deepest);
        assert_eq!(history["rolling_sharpe"].as_array().map(Vec::len), Some((n + 1).saturating_sub(60)));
        if n == 60 {
            assert_eq!(history["rolling_sharpe"][0]["sharpe"], metrics["sharpe"]);
        }
    }
}

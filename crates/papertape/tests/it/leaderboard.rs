//! Leaderboards through the real router: shared ranks of constructed daily values, boards that never mix, and what an entry
//! says about its runs.

use crate::api_support::{MODELS, World, week};
use crate::compare::{Lab, close, trading_days, uniform};
use axum::http::StatusCode;
use papertape_core::broker::CostModel;
use papertape_core::id::JobId;
use papertape_core::market::MaskKind;
use papertape_evidence::{MeanEstimate, ReturnSeries};
use papertape_service::trigger::{BranchRequest, Request as Simulation, branch};
use serde_json::{Value, json};

const A: &str = "house::momentum";
const B: &str = "house::contrarian";
const C: &str = "house::buy_and_hold";

/// The only board of a response.
#[track_caller]
fn only(response: &Value) -> &Value {
    assert_eq!(response["boards"].as_array().map(Vec::len), Some(1), "{response}");
    &response["boards"][0]
}

#[track_caller]
fn entry<'a>(board: &'a Value, label: &str) -> &'a Value {
    let entries = board["entries"].as_array().expect("entries");
    entries.iter().find(|entry| entry["label"] == label).unwrap_or_else(|| panic!("no {label}: {board}"))
}

/// The 95% interval of a total return by the method, from daily returns.
fn interval(returns: &[f64]) -> (f64, f64, f64) {
    let day = |at: usize| {
        let first = jiff::civil::date(2011, 1, 1);
        first.checked_add(jiff::Span::new().days(i64::try_from(at).expect("few"))).expect("a day")
    };
    let days: Vec<_> = returns.iter().enumerate().map(|(at, r)| (day(at), *r)).collect();
    let series = ReturnSeries::from_returns(&days).expect("returns");
    let found = MeanEstimate::of(series.log_returns()).expect("an estimate");
    let n = returns.len() as f64;
    let total = |daily: f64| (n * daily).exp_m1();
    (total(found.interval().low), total(found.mean), total(found.interval().high))
}

/// Makes agents of a job language models, whose runs are trials. The changed request time makes it another job for caches.
fn as_llms(lab: &Lab, job: &str, agents: usize) {
    lab.edit(&format!("UPDATE jobs SET created_at = created_at + 1 WHERE job_id = '{job}'"));
    for at in 0..agents {
        lab.edit(&format!(
            "UPDATE job_configs SET config = json_set(config, '$.agents[{at}].model', 'lab::m{at}')
             WHERE job_id = '{job}'"
        ));
    }
}

/// Goal: of three agents, the one that is clearly ahead has a rank of its own, the two that are not distinguishable share
/// theirs, buy-and-hold is an entry next to them, rules are marked, and returns and intervals are those of the method.
#[tokio::test(flavor = "multi_thread")]
async fn entries_that_are_not_distinguishable_share_their_ranks() {
    let lab = Lab::new().await;
    let n = 60;
    let job = lab.job(1, n, &[A, B, C]).await;
    let (ahead, noise, other) =
        (uniform(8, n, 0.02, 0.01), uniform(7, n, 0.0, 0.01), uniform(9, n, 0.0, 0.01));
    lab.set(&job, A, &ahead);
    lab.set(&job, B, &noise);
    lab.set(&job, C, &other);
    let response = lab.0.good("/leaderboard").await;
    assert_eq!(lab.0.good("/leaderboard").await, response, "cached");
    let board = only(&response);
    assert_eq!((&board["ranked"], &board["tests"], &board["runs"]), (&json!(4), &json!(6), &json!(3)));
    assert_eq!(board["entries"][0]["label"], A);
    assert_eq!(entry(board, A)["rank"], json!({ "best": 1, "worst": 1 }));
    for label in [B, C, "buy and hold"] {
        assert_eq!(entry(board, label)["rank"], json!({ "best": 2, "worst": 4 }), "{label}");
    }
    assert_eq!(
        entry(board, A)["against"],
        json!({ "better": 3, "worse": 0, "not_distinguishable": 0, "not_compared": 0 })
    );
    assert_eq!(
        entry(board, B)["against"],
        json!({ "better": 0, "worse": 1, "not_distinguishable": 2, "not_compared": 0 })
    );
    for (label, returns) in [(A, &ahead), (B, &noise)] {
        let (found, (low, total, high)) = (entry(board, label), interval(returns));
        close(&found["total_return"], total);
        close(&found["interval"]["low"], low);
        close(&found["interval"]["high"], high);
        assert!(found["annualized_return"].is_number() && found["sharpe"]["interval"].is_object());
        assert_eq!((&found["is_llm"], &found["kind"]), (&json!(false), &json!("agent")));
        assert_eq!((&found["days"], &found["planned_days"]), (&json!(n), &json!(n)));
        assert_eq!((&found["model_cost_usd"], &found["point_in_time"]), (&json!(0), &json!("verified")));
        assert_eq!(found["job_ids"], json!([job]));
    }
    let baseline = entry(board, "buy and hold");
    assert_eq!((&baseline["kind"], &baseline["is_llm"]), (&json!("baseline"), &Value::Null));
    assert!(baseline["quality"].is_null() && baseline["job_ids"] == json!([]));
}

/// Goal: runs that differ in dataset rules, costs, mask or days are on different boards, and filters select boards.
#[tokio::test(flavor = "multi_thread")]
async fn runs_under_other_conditions_are_never_ranked_together() {
    let world = World::new().await;
    world.run(Simulation { seed: Some(5), costs: Some(CostModel::Market), ..week() }).await;
    world.run(Simulation { seed: Some(6), masking: Some(MaskKind::Dates), ..week() }).await;
    let longer = Some(jiff::civil::date(2012, 10, 8));
    world.run(Simulation { seed: Some(7), end_date: longer, ..week() }).await;
    world.run(Simulation { seed: Some(8), symbols: vec!["AAPL".to_owned()], ..week() }).await;
    let response = world.good("/leaderboard").await;
    let boards = response["boards"].as_array().expect("boards");
    assert_eq!((response["total"].as_u64(), boards.len()), (Some(5), 5), "{response}");
    for board in boards {
        assert_eq!((&board["runs"], &board["configurations"]), (&json!(2), &json!(2)), "{board}");
    }
    let with = |key: &str, value: Value| boards.iter().filter(|board| board[key] == value).count();
    assert_eq!((with("mask", json!("dates")), with("mask", Value::Null)), (1, 4));
    let days = |board: &Value| (board["start_date"].clone(), board["end_date"].clone());
    let masked = boards.iter().find(|board| board["mask"] == "dates").expect("a masked board");
    assert_eq!(days(masked), (json!("2012-10-01"), json!("2012-10-05")), "under real dates");
    assert_eq!(entry(masked, MODELS[1])["mask"], "dates");
    let costs: std::collections::BTreeSet<_> =
        boards.iter().map(|board| board["costs_hash"].as_str()).collect();
    assert_eq!(costs.len(), 2, "with costs, and without");

    // Of the same runs with other costs, each is alone: nothing to compare it with under 60 days.
    let one = &boards[0]["board_id"].as_str().expect("an ID");
    let found = world.good(&format!("/leaderboard?board={one}")).await;
    assert_eq!(only(&found)["board_id"], **one);
    assert_eq!(world.get("/leaderboard?board=none").await.status, StatusCode::NOT_FOUND);
    let total = async |query: &str| world.good(&format!("/leaderboard?{query}")).await["total"].clone();
    assert_eq!(total("dataset=us-daily-2000-2013").await, 5);
    assert_eq!(total("dataset=nothing").await, 0);
    assert_eq!(total("model=house::momentum").await, 5);
    assert_eq!(total("model=house::contrarian").await, 0);
    let summary = world.good("/leaderboard?summary=true&limit=2").await;
    assert_eq!((&summary["count"], &summary["is_truncated"]), (&json!(2), &json!(true)));
    assert!(summary["boards"][0]["entries"].is_null());
    for wrong in ["limit=0", "limit=101", "limit=x", "unknown=1", "board=%00"] {
        let status = world.get(&format!("/leaderboard?{wrong}")).await.status;
        assert!(status == StatusCode::BAD_REQUEST || status == StatusCode::UNPROCESSABLE_ENTITY, "{wrong}");
    }
}

/// Goal: trials of one configuration are one entry; two support no claim; days that were counted are not counted again; and a
/// repeated run of rules is not a trial.
#[tokio::test(flavor = "multi_thread")]
async fn runs_of_one_configuration_are_trials() {
    let lab = Lab::new().await;
    let n = 60;
    let mut jobs = Vec::new();
    for trial in 1..=3 {
        let job = lab.job(trial, n, &[A, B]).await;
        lab.set(&job, A, &uniform(trial, n, 0.001, 0.04));
        lab.set(&job, B, &uniform(trial + 3, n, 0.0005, 0.03));
        jobs.push(job);
    }
    let response = lab.0.good("/leaderboard").await;
    let rules = entry(only(&response), A);
    assert_eq!((&rules["trials"], &rules["omitted_runs"]), (&json!(1), &json!(2)), "rules do not vary");
    assert_eq!(rules["job_ids"], json!([jobs[2]]), "the newest");

    // As language models, each run is a trial.
    jobs.iter().for_each(|job| as_llms(&lab, job, 1));
    let response = lab.0.good("/leaderboard").await;
    let found = entry(only(&response), A);
    assert_eq!((&found["trials"], &found["omitted_runs"]), (&json!(3), &json!(0)));
    assert_eq!((&found["return_spread"]["n"], &found["sharpe"]), (&json!(3), &Value::Null));
    assert_eq!(found["quality"]["model_days"], 3 * n);
    assert!(found["rank"].is_object() && found["interval"].is_object(), "{found}");
    // Three trials against one run of rules is a claim; two are none.
    lab.edit(&format!("UPDATE jobs SET status = 'partial' WHERE job_id = '{}'", jobs[0]));
    let response = lab.0.good("/leaderboard").await;
    let found = entry(only(&response), A);
    assert_eq!((&found["trials"], &found["unranked"]), (&json!(2), &json!("two_trials")));
    assert!(found["rank"].is_null() && found["interval"].is_null(), "{found}");
}

/// Goal: an entry states its degraded days, its unknown cost, its insolvency and an unverified day, and what cannot be ranked is
/// listed without a rank and widens no other rank.
#[tokio::test(flavor = "multi_thread")]
async fn entries_state_what_is_known_about_their_runs() {
    let lab = Lab::new().await;
    let n = 60;
    let job = lab.job(1, n, &[A, B, C]).await;
    lab.set(&job, A, &uniform(8, n, 0.0, 0.01));
    lab.set(&job, B, &uniform(7, n, 0.0, 0.01));
    let mut ruin = uniform(9, n, 0.0, 0.01);
    ruin[n - 1] = -1.0;
    lab.set(&job, C, &ruin);
    let of = |agent: &str| format!("job_id = '{job}' AND model = '{agent}'");
    let first = |days: usize| {
        format!("AND date IN (SELECT DISTINCT date FROM trading_sessions ORDER BY date LIMIT {days})")
    };
    lab.edit(&format!(
        "UPDATE trading_sessions SET metadata = json_set(metadata, '$.data_quality', json('{{\"state\": \"no_decision\"}}')) WHERE {} {}",
        of(A),
        first(15)
    ));
    lab.edit(&format!("UPDATE trading_sessions SET unpriced_calls = 1 WHERE {} {}", of(A), first(1)));
    lab.edit(&format!(
        "UPDATE trading_sessions SET metadata = json_set(metadata, '$.point_in_time', 'unverified') WHERE {} {}",
        of(B),
        first(1)
    ));
    let response = lab.0.good("/leaderboard").await;
    let board = only(&response);
    let a = entry(board, A);
    assert_eq!(
        a["quality"],
        json!({
            "model_days": 60, "degraded_days": 15, "degraded_share": 0.25, "no_decision_days": 15,
            "no_decision_share": 0.25, "failed_days": 0
        })
    );
    assert!(a["model_cost_usd"].is_null(), "{a}");
    assert_eq!(a["point_in_time"], "verified");
    let b = entry(board, B);
    assert_eq!(b["quality"]["degraded_share"], 0.0);
    assert_eq!(b["point_in_time"], "unverified");
    assert_eq!(b["point_in_time_reason"]["job"], json!(job));
    let c = entry(board, C);
    assert_eq!((&c["rank"], &c["unranked"]), (&Value::Null, &json!("insolvent")));
    assert!(c["insolvent_on"].is_string() && c["total_return"].is_null() && c["interval"].is_null());
    assert_eq!(board["entries"][3]["label"], C, "after those with a rank");
    assert_eq!(a["rank"], json!({ "best": 1, "worst": 3 }), "two agents and the baseline");

    // As language models of no known vendor, they warn about their training.
    as_llms(&lab, &job, 3);
    let response = lab.0.good("/leaderboard").await;
    let a = entry(only(&response), A);
    assert_eq!(a["is_llm"], true);
    assert!(a["training_cutoffs"][0]["warning"].as_str().expect("a warning").contains("unknown"), "{a}");
    assert_eq!(only(&response)["notes"][0], "single_runs");
}

/// Goal: branches, and runs of an unfinished experiment, are not ranked; an empty database has no board.
#[tokio::test(flavor = "multi_thread")]
async fn only_fresh_and_finished_runs_are_ranked() {
    let lab = Lab::new().await;
    let empty = lab.0.good("/leaderboard").await;
    assert_eq!(
        (&empty["total"], &empty["boards"], &empty["is_truncated"]),
        (&json!(0), &json!([]), &json!(false))
    );

    let job = lab.job(1, 60, &[A, B]).await;
    let cut = BranchRequest {
        agent: Some(A.to_owned()),
        date: trading_days(59).1,
        at: None,
        model: Some(C.to_owned()),
        instructions: None,
        sampling: None,
    };
    let branch = branch(&lab.0.app, &JobId::new(&job), cut).await.expect("a branch").job.to_string();
    lab.0.work(&branch).await;
    let response = lab.0.good("/leaderboard").await;
    assert_eq!(response["excluded"]["branches"], 1, "{response}");
    assert_eq!(only(&response)["runs"], 2);
    assert!(entry(only(&response), A)["rank"].is_object());

    // One of two planned jobs of an experiment.
    lab.experiment(&[&job, &branch], [2, 2], 60, "all_pairs");
    lab.edit(&format!("DELETE FROM experiment_jobs WHERE job_id = '{branch}'"));
    // No job joins an experiment later, so for caches it is another job.
    lab.edit(&format!("UPDATE jobs SET created_at = created_at + 1 WHERE job_id = '{job}'"));
    let response = lab.0.good("/leaderboard").await;
    let found = entry(only(&response), A);
    assert_eq!(
        (&found["unranked"], &found["experiment_ids"]),
        (&json!("interim"), &json!(["trial-runs"])),
        "{found}"
    );
}

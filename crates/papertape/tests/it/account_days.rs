//! Which days count as done: a job skips, continues and replaces an agent's days only as parts of one account.

use crate::account_support::{DAYS, Lab};
use papertape_runtime::budget::{Budget, Limit};
use papertape_service::ServiceError;
use papertape_service::trigger::{Request as Simulation, trigger};
use serde_json::{Value, json};

/// The jobs that ran an agent's days earlier, with the days.
async fn done_before(lab: &Lab, job: &str, agent: &str) -> Value {
    lab.result(job, agent).await["done_before"].clone()
}

fn span(job: &str, first: usize, last: usize) -> Value {
    json!({ "job_id": job, "start_date": DAYS[first], "end_date": DAYS[last] })
}

async fn skipped(lab: &Lab, job: &str) -> u64 {
    lab.status(job).await["progress"]["skipped"].as_u64().expect("a number")
}

/// Goal: of three overlapping jobs, a fourth continues exactly one account: days of other accounts run again,
/// and the response says so.
#[tokio::test(flavor = "multi_thread")]
async fn overlapping_jobs_are_not_stitched_together() {
    let lab = Lab::new().await;
    let first = lab.run(&["one"], (0, 2)).await;
    lab.set(|script| script.mood = 1);
    let middle = lab.run(&["one"], (2, 4)).await;
    lab.set(|script| script.mood = 2);
    let last = lab.run(&["one"], (4, 5)).await;
    let whole = lab.run(&["one"], (0, 6)).await;
    assert_eq!(lab.one_account(&whole, "one").await, DAYS);
    assert_eq!(done_before(&lab, &whole, "one").await, json!([span(&first, 0, 2)]));
    assert_eq!(skipped(&lab, &whole).await, 3);
    let warnings = lab.warnings(&whole).await;
    for other in [&middle, &last] {
        assert!(warnings.contains(&format!("job {other} completed days from")), "{warnings}");
    }
    assert!(warnings.contains("they run again"), "{warnings}");
    // Now all days belong to one account, which the next job finds through a single job.
    let again = lab.run(&["one"], (0, 6)).await;
    assert_eq!(skipped(&lab, &again).await, 7);
    let spans = json!([span(&first, 0, 2), span(&whole, 3, 6)]);
    assert_eq!(done_before(&lab, &again, "one").await, spans, "the result of a job with nothing left to run");
    assert_eq!(lab.one_account(&again, "one").await, DAYS);
    // A part of it; also one that starts later and so is another account.
    let part = lab.run(&["one"], (0, 1)).await;
    assert_eq!(done_before(&lab, &part, "one").await, json!([span(&first, 0, 1)]));
    assert_eq!(lab.one_account(&part, "one").await, DAYS[..2]);
    let later = lab.run(&["one"], (1, 3)).await;
    assert_eq!(skipped(&lab, &later).await, 0);
    assert_eq!(lab.one_account(&later, "one").await, DAYS[1..4]);
}

/// Goal: days are skipped through a job that continues an account, and the result equals that of a single run.
#[tokio::test(flavor = "multi_thread")]
async fn a_continued_account_is_skipped_as_far_as_it_goes() {
    let lab = Lab::new().await;
    let first = lab.run(&["one"], (0, 2)).await;
    let next = lab.world.run(Simulation { start_date: None, ..Lab::request(&["one"], (0, 4)) }).await;
    assert_eq!(done_before(&lab, &next, "one").await, json!([]), "its range begins with its own days");
    let whole = lab.run(&["one"], (0, 6)).await;
    assert_eq!(done_before(&lab, &whole, "one").await, json!([span(&first, 0, 2), span(&next, 3, 4)]));
    assert_eq!(lab.one_account(&whole, "one").await, DAYS);
    lab.as_in_one_piece(Lab::request(&["one"], (0, 6)), &whole, "one").await;
    let curves = lab.world.good(&format!("/jobs/{whole}/curves")).await;
    let curve = &curves["agents"][0];
    assert_eq!(curve["done_before"], json!([span(&first, 0, 2), span(&next, 3, 4)]));
    assert_eq!(curve["starting_portfolio_value"], 10_000.0);
    assert!(curve["portfolio_values"].as_array().expect("values").iter().all(Value::is_number), "{curve}");
    // The agent's newest account is continued, not the newest job, which ran nothing.
    lab.run(&["one"], (0, 1)).await;
    let day = lab.world.good("/results?model=one").await;
    assert_eq!(day["results"][0]["job_id"], whole.as_str());
    assert_eq!(day["results"][0]["done_before"], json!([span(&first, 0, 2), span(&next, 3, 4)]));
}

/// Goal: replacing one agent's days leaves the other's unchanged in results, skips and continuation.
#[tokio::test(flavor = "multi_thread")]
async fn replacing_one_agent_leaves_the_others() {
    let lab = Lab::new().await;
    let both = lab.run(&["one", "two"], (0, 2)).await;
    lab.set(|script| script.mood = 3);
    let replacing = Simulation { replace_existing: true, ..Lab::request(&["one"], (0, 2)) };
    let newer = lab.world.run(replacing.clone()).await;
    for (agent, job) in [("one", &newer), ("two", &both)] {
        let found = lab.world.good(&format!("/results?model={agent}")).await;
        assert_eq!(found["results"][0]["job_id"], job.as_str(), "{agent}");
    }
    let old = lab.world.good(&format!("/jobs/{both}")).await;
    assert_eq!(old["job"]["superseded"], json!({ "one": newer }));
    assert_eq!(old["job"]["superseded_by"], Value::Null, "one of its agents still counts");
    let again = lab.run(&["one", "two"], (0, 3)).await;
    assert_eq!(skipped(&lab, &again).await, 6);
    assert_eq!(done_before(&lab, &again, "one").await, json!([span(&newer, 0, 2)]));
    assert_eq!(done_before(&lab, &again, "two").await, json!([span(&both, 0, 2)]));
    for agent in ["one", "two"] {
        assert_eq!(lab.one_account(&again, agent).await, DAYS[..4], "{agent}");
    }
    let last = lab.world.run(Simulation { replace_existing: true, ..Lab::request(&["two"], (0, 2)) }).await;
    let old = lab.status(&both).await;
    assert_eq!(old["superseded"], json!({ "one": newer, "two": last }));
    assert_eq!(old["superseded_by"], last.as_str());
}

/// Goal: days that continue replaced days are replaced with them, and a job requested by ID is still shown.
#[tokio::test(flavor = "multi_thread")]
async fn what_continues_replaced_days_is_replaced_too() {
    let lab = Lab::new().await;
    let first = lab.run(&["one"], (0, 2)).await;
    let next = lab.world.run(Simulation { start_date: None, ..Lab::request(&["one"], (0, 4)) }).await;
    lab.set(|script| script.mood = 2);
    let newer = lab.world.run(Simulation { replace_existing: true, ..Lab::request(&["one"], (0, 1)) }).await;
    assert!(lab.warnings(&newer).await.contains(&format!("job {next} continues days that are replaced")));
    for job in [&first, &next] {
        assert_eq!(lab.status(job).await["superseded_by"], newer.as_str(), "{job}");
    }
    let found = lab.world.good("/results?model=one").await;
    assert_eq!((&found["results"][0]["job_id"], &found["count"]), (&json!(newer), &json!(1)));
    assert_eq!(found["end_date"], DAYS[1]);
    assert_eq!(lab.one_account(&first, "one").await, DAYS[..3], "a job that is named is shown as it was");
    let whole = lab.run(&["one"], (0, 4)).await;
    assert_eq!(done_before(&lab, &whole, "one").await, json!([span(&newer, 0, 1)]));
    assert_eq!(lab.one_account(&whole, "one").await, DAYS[..5]);
    // Without a first day, the new account is continued.
    let on = lab.world.run(Simulation { start_date: None, ..Lab::request(&["one"], (0, 6)) }).await;
    let about = lab.world.good(&format!("/jobs/{on}")).await;
    assert_eq!(about["job"]["simulation"]["continues"]["one"], json!({ "job": whole, "date": DAYS[4] }));
}

/// Goal: a failed day and all days after it run again; a degraded one does so on request, from the state
/// before it.
#[tokio::test(flavor = "multi_thread")]
async fn failed_and_degraded_days_are_not_final() {
    let lab = Lab::new().await;
    lab.fail(&[DAYS[3]]);
    let first = lab.run(&["one", "two"], (0, 5)).await;
    assert_eq!(lab.status(&first).await["status"], "partial");
    lab.fail(&[]);
    let mended = lab.run(&["one", "two"], (0, 5)).await;
    assert_eq!(skipped(&lab, &mended).await, 6);
    assert_eq!(done_before(&lab, &mended, "one").await, json!([span(&first, 0, 2)]));
    assert!(lab.warnings(&mended).await.contains(&format!("job {first} completed days from {}", DAYS[4])));
    assert_eq!(lab.one_account(&mended, "one").await, DAYS[..6]);
    lab.as_in_one_piece(Lab::request(&["one"], (0, 5)), &mended, "one").await;

    lab.degrade(&mended, "one", DAYS[4]);
    let kept = lab.run(&["one", "two"], (0, 5)).await;
    assert_eq!(skipped(&lab, &kept).await, 12, "degraded days are done until somebody asks");
    let warnings = lab.warnings(&kept).await;
    assert!(
        warnings.contains(&format!("one: 1 of the skipped days are degraded, the first is {}", DAYS[4])),
        "{warnings}"
    );
    let rerun = Simulation { rerun_degraded: true, ..Lab::request(&["one", "two"], (0, 5)) };
    let rerun = lab.world.run(rerun).await;
    assert_eq!(skipped(&lab, &rerun).await, 4 + 6, "the other agent has no degraded day");
    let spans = json!([span(&first, 0, 2), span(&mended, 3, 3)]);
    assert_eq!(done_before(&lab, &rerun, "one").await, spans, "up to the day before the degraded one");
    assert_eq!(lab.one_account(&rerun, "one").await, DAYS[..6]);
    lab.as_in_one_piece(Lab::request(&["one"], (0, 5)), &rerun, "one").await;
    assert_eq!(lab.result(&rerun, "one").await["provenance"]["degraded_days"], json!([]));
    // Now there is an account without a degraded day: nothing is left to run.
    let clean = Simulation { rerun_degraded: true, ..Lab::request(&["one", "two"], (0, 5)) };
    assert_eq!(skipped(&lab, &lab.world.run(clean).await).await, 12);
    // The account's first day: all of it runs again.
    lab.degrade(&first, "two", DAYS[0]);
    let all = lab.world.run(Simulation { rerun_degraded: true, ..Lab::request(&["two"], (0, 2)) }).await;
    assert_eq!(skipped(&lab, &all).await, 0);
    assert_eq!(lab.one_account(&all, "two").await, DAYS[..3]);
}

/// Goal: a job that stopped halfway leaves its days to the next job, and continues its own days when it is resumed.
#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_jobs_days_are_continued() {
    // The smallest budget that suffices for a day.
    let mut tokens = 500;
    let (lab, stopped, done) = loop {
        let lab = Lab::new().await;
        let budget = Budget { job: Limit { tokens: Some(tokens), usd: None }, ..Budget::default() };
        let job = lab.world.run(Simulation { budget: Some(budget), ..Lab::request(&["one"], (0, 6)) }).await;
        let done = lab.status(&job).await["progress"]["completed"].as_u64().expect("a number") as usize;
        if done > 0 {
            break (lab, job, done);
        }
        tokens += 500;
    };
    assert!(done < 7, "{done} days were done with {tokens} tokens");
    lab.set(|script| script.mood = 1);
    let whole = lab.run(&["one"], (0, 6)).await;
    assert_eq!(done_before(&lab, &whole, "one").await, json!([span(&stopped, 0, done - 1)]));
    assert_eq!(lab.one_account(&whole, "one").await, DAYS);
    let larger = json!({ "budget": { "job": { "tokens": 10_000_000 } } });
    assert_eq!(lab.world.post(&format!("/simulate/{stopped}/resume"), &larger).await.status, 202);
    lab.set(|script| script.mood = 2);
    lab.world.work(&stopped).await;
    for job in [&stopped, &whole] {
        assert_eq!(lab.one_account(job, "one").await, DAYS, "two accounts that share their first days");
    }
    assert_eq!(lab.result(&stopped, "one").await["done_before"], json!([]));
}

/// Goal: orders that wait for the next open expire at the end of a run and on no other day: a day that would
/// have ended differently in a single run runs again.
#[tokio::test(flavor = "multi_thread")]
async fn a_day_at_whose_close_orders_expired_is_run_again() {
    let lab = Lab::new().await;
    let request = |days| Simulation { market: Some("next_open".to_owned()), ..Lab::request(&["one"], days) };
    let short = lab.world.run(request((0, 2))).await;
    let long = lab.world.run(request((0, 4))).await;
    assert_eq!(done_before(&lab, &long, "one").await, json!([span(&short, 0, 1)]));
    lab.as_in_one_piece(request((0, 4)), &long, "one").await;
    assert_eq!(lab.one_account(&long, "one").await, DAYS[..5]);
    let middle = lab.world.run(request((0, 3))).await;
    assert_eq!(skipped(&lab, &middle).await, 3, "at the end of the fourth day, an order expires here");
    lab.as_in_one_piece(request((0, 3)), &middle, "one").await;
    let same = lab.world.run(request((0, 2))).await;
    assert_eq!(skipped(&lab, &same).await, 3);
    lab.as_in_one_piece(request((0, 2)), &same, "one").await;
}

/// Goal: an agent whose days are all done counts, even if another agent of the same job failed.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_counts_by_its_own_days() {
    let lab = Lab::new().await;
    lab.run(&["one"], (0, 1)).await;
    lab.fail(&[&format!("one {}", DAYS[2])]);
    let failing = lab.run(&["one", "two"], (0, 2)).await;
    let found = lab.world.good("/results?model=one").await;
    assert_ne!(found["results"][0]["job_id"], failing.as_str(), "one of its days failed");
    let found = lab.world.good("/results?model=two").await;
    assert_eq!(found["results"][0]["job_id"], failing.as_str(), "its own days are all done");
    lab.fail(&[]);
    let on = trigger(&lab.world.app, Simulation { start_date: None, ..Lab::request(&["one"], (0, 3)) }).await;
    let on = lab.world.good(&format!("/jobs/{}", on.expect("is queued").job)).await;
    assert_eq!(on["job"]["simulation"]["continues"]["one"]["date"], DAYS[1]);
    let on = trigger(&lab.world.app, Simulation { start_date: None, ..Lab::request(&["two"], (0, 3)) }).await;
    let on = lab.world.good(&format!("/jobs/{}", on.expect("is queued").job)).await;
    let continues = &on["job"]["simulation"]["continues"]["two"];
    assert_eq!(*continues, json!({ "job": failing, "date": DAYS[2] }));
}

/// Goal: jobs triggered at the same moment are each one account.
#[tokio::test(flavor = "multi_thread")]
async fn triggers_at_the_same_moment_are_each_one_account() {
    let lab = Lab::new().await;
    let first = lab.run(&["one"], (0, 2)).await;
    let app = &lab.world.app;
    let (plain, replacing, other) = tokio::join!(
        trigger(app, Lab::request(&["one"], (0, 4))),
        trigger(app, Simulation { replace_existing: true, ..Lab::request(&["one"], (0, 3)) }),
        trigger(app, Lab::request(&["one"], (0, 5))),
    );
    let replacing = replacing.expect("is queued").job.to_string();
    for (job, mood, days) in [
        (plain.expect("is queued").job.to_string(), 1, 5),
        (replacing.clone(), 2, 4),
        (other.expect("is queued").job.to_string(), 3, 6),
    ] {
        lab.set(|script| script.mood = mood);
        lab.world.work(&job).await;
        assert_eq!(lab.one_account(&job, "one").await, DAYS[..days], "{job}");
        let skipped = skipped(&lab, &job).await;
        let status = lab.status(&job).await;
        let is_replaced = status["superseded_by"] == replacing.as_str();
        assert_eq!(
            skipped > 0,
            is_replaced,
            "what continues the replaced days is replaced with them: {status}"
        );
    }
    assert_eq!(lab.status(&first).await["superseded_by"], replacing.as_str());
}

/// Goal: empty lists and contradictory options are rejected by field name.
#[tokio::test(flavor = "multi_thread")]
async fn empty_lists_and_contradictions_are_named() {
    let lab = Lab::new().await;
    let request = json!({ "start_date": DAYS[0], "end_date": DAYS[1], "models": ["house::momentum"] });
    for field in ["models", "agents", "symbols"] {
        let mut body = request.clone();
        body[field] = json!([]);
        let answer = lab.world.post("/simulate/trigger", &body).await;
        assert_eq!(answer.status, 400, "{}", answer.text);
        let message = answer.json()["message"].to_string();
        assert!(message.contains(&format!("{field}: the list is empty")), "{message}");
    }
    let mut both = request.clone();
    (both["rerun_degraded"], both["replace_existing"]) = (json!(true), json!(true));
    let mut on = request;
    (on["rerun_degraded"], on["start_date"]) = (json!(true), Value::Null);
    for body in [both, on] {
        let answer = lab.world.post("/simulate/trigger", &body).await;
        assert_eq!(answer.status, 400, "{}", answer.text);
        assert!(answer.json()["message"].to_string().contains("rerun_degraded: "), "{}", answer.text);
    }
    let contradiction =
        Simulation { rerun_degraded: true, replace_existing: true, ..Lab::request(&["one"], (0, 1)) };
    let refused = trigger(&lab.world.app, contradiction).await;
    assert!(matches!(refused, Err(ServiceError::Invalid { field: "rerun_degraded", .. })), "{refused:?}");
}

//! Whatever is triggered, replaced, stopped and degraded, in whatever order: each result belongs to one
//! account, covers its range, and, if nothing but the range differs, equals that of a single run over the range.

use crate::account_support::{DAYS, Lab};
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_runtime::budget::{Budget, Limit};
use papertape_service::trigger::trigger;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use std::collections::BTreeSet;

/// One random operation.
#[derive(Clone, Copy, Debug)]
enum Deed {
    /// Triggers a job over these days; `first` is `None` to continue.
    Trigger { first: Option<usize>, last: usize, who: usize, how: How, ends: Ends },
    /// Marks a day of a finished job as degraded.
    Degrade { job: usize, day: usize },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Plain,
    Replace,
    RerunDegraded,
}

#[derive(Clone, Copy, Debug)]
enum Ends {
    Completed,
    /// The provider rejects requests on this day.
    Failing(usize),
    /// The budget is used up before the last day.
    Stopped(u64),
    /// The job is cancelled while queued.
    Cancelled,
}

const WHO: [&[&str]; 3] = [&["one"], &["two"], &["one", "two"]];

fn deed() -> impl Strategy<Value = Deed> {
    let how = prop_oneof![4 => Just(How::Plain), 2 => Just(How::Replace), 2 => Just(How::RerunDegraded)];
    let ends = prop_oneof![
        5 => Just(Ends::Completed),
        2 => (0..5_usize).prop_map(Ends::Failing),
        1 => (1_000..20_000_u64).prop_map(Ends::Stopped),
        1 => Just(Ends::Cancelled),
    ];
    let days = (0..3_usize, 0..4_usize, any::<bool>());
    let trigger = (days, 0..WHO.len(), how, ends).prop_map(|((first, more, is_on), who, how, ends)| {
        let last = first + more;
        Deed::Trigger { first: (!is_on || how != How::Plain).then_some(first), last, who, how, ends }
    });
    prop_oneof![
        5 => trigger,
        1 => (0..8_usize, 0..6_usize).prop_map(|(job, day)| Deed::Degrade { job, day }),
    ]
}

struct Done {
    job: String,
    first: Option<usize>,
    last: usize,
    agents: &'static [&'static str],
}

async fn play(deeds: &[Deed], has_moods: bool) {
    let lab = Lab::new().await;
    let mut done: Vec<Done> = Vec::new();
    for (at, deed) in deeds.iter().enumerate() {
        match *deed {
            Deed::Trigger { first, last, who, how, ends } => {
                let agents = WHO[who];
                lab.set(|script| {
                    script.mood = if has_moods { at as u64 } else { 0 };
                    script.fails = match ends {
                        Ends::Failing(day) => BTreeSet::from([DAYS[day].to_owned()]),
                        _ => BTreeSet::new(),
                    };
                });
                let mut request = Lab::request(agents, (first.unwrap_or(0), last));
                request.start_date = first.and(request.start_date);
                request.replace_existing = how == How::Replace;
                request.rerun_degraded = how == How::RerunDegraded;
                if let Ends::Stopped(tokens) = ends {
                    let job = Limit { tokens: Some(tokens), usd: None };
                    request.budget = Some(Budget { job, ..Budget::default() });
                }
                // There may be nothing to continue, or nothing left to do.
                let Ok(queued) = trigger(&lab.world.app, request).await else { continue };
                let job = queued.job.to_string();
                if matches!(ends, Ends::Cancelled) {
                    lab.world.app.store.cancel(&JobId::new(&job)).await.expect("cancels");
                } else {
                    lab.world.work(&job).await;
                }
                done.push(Done { job, first, last, agents });
            }
            Deed::Degrade { job, day } => {
                if let Some(of) = done.get(job) {
                    let agent = of.agents[0];
                    lab.edit(&format!(
                        "UPDATE trading_sessions SET metadata = json_set(metadata, '$.data_quality',
                             json('{{\"state\": \"research_degraded\"}}'))
                         WHERE job_id = '{}' AND model = '{agent}' AND date = '{}' AND completed_at IS NOT NULL",
                        of.job, DAYS[day]
                    ));
                }
            }
        }
    }
    lab.set(|script| script.fails.clear());
    for job in &done {
        for agent in job.agents {
            check(&lab, job, agent, has_moods).await;
        }
    }
    newest_is_found(&lab, &done).await;
}

/// Checks an agent's result in a job.
async fn check(lab: &Lab, done: &Done, agent: &str, has_moods: bool) {
    let status = lab.status(&done.job).await;
    let days: Vec<&Value> =
        status["details"].as_array().expect("details").iter().filter(|day| day["model"] == agent).collect();
    let over: Vec<&str> = days
        .iter()
        .filter(|day| ["completed", "failed", "skipped"].iter().any(|status| day["status"] == *status))
        .filter_map(|day| day["date"].as_str())
        .collect();
    if over.is_empty() {
        return;
    }
    // A job that started a new account is one account from its first day; one that continued an account is
    // checked against that account.
    if done.first.is_some() {
        assert_eq!(lab.one_account(&done.job, agent).await, over, "{agent} in {}", done.job);
    }
    let is_whole = over.len() == days.len() && days.iter().all(|day| day["status"] != "failed");
    if let (Some(first), true, false) = (done.first, is_whole, has_moods) {
        assert_eq!(over, DAYS[first..=done.last], "it covers its range");
        lab.as_in_one_piece(Lab::request(&[agent], (first, done.last)), &done.job, agent).await;
    }
}

/// Checks that an agent has a result without a job ID exactly if one of its jobs is complete and not replaced.
async fn newest_is_found(lab: &Lab, done: &[Done]) {
    for agent in ["one", "two"] {
        let mut is_there = false;
        for job in done.iter().filter(|job| job.agents.contains(&agent)) {
            let status = lab.status(&job.job).await;
            let days =
                status["details"].as_array().expect("details").iter().filter(|day| day["model"] == agent);
            let statuses: Vec<&str> = days.filter_map(|day| day["status"].as_str()).collect();
            let is_whole = statuses.iter().all(|status| ["completed", "skipped"].contains(status));
            let is_replaced = status["superseded"].get(agent).is_some();
            is_there |= is_whole && statuses.contains(&"completed") && !is_replaced;
        }
        let answer = lab.world.get(&format!("/results?model={agent}")).await;
        assert_eq!(answer.status == 200, is_there, "{agent}: {}", answer.text);
    }
}

fn played(has_moods: bool, cases: u32) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let tested = TestRunner::new(config).run(&prop::collection::vec(deed(), 3..8), |deeds| {
        runtime.block_on(play(&deeds, has_moods));
        Ok(())
    });
    tested.unwrap_or_else(|error| panic!("{error}"));
}

/// Goal: see above; with a trader that always does the same.
#[test]
fn a_result_is_what_one_run_comes_to() {
    played(false, 10);
}

/// Goal: see above; with a trader that acts differently in each job, so that no two accounts are equal by chance.
#[test]
fn a_result_is_one_account() {
    played(true, 14);
}

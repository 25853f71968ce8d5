//! Branches: what is copied from the parent, and from where on nothing is.

use crate::stage::{Scripted, Stage, buy, done, turn_of, usual};
use papertape_agents::config::AgentConfig;
use papertape_core::id::JobId;
use papertape_core::record::JobStatus;
use papertape_runtime::config::Branch;
use papertape_runtime::replay;
use std::sync::Arc;

/// A parent whose days have three model calls each.
fn parent() -> (Stage, JobId) {
    let stage = Stage::new();
    let job = stage.queue("parent");
    let end = stage.run(&job, &stage.models(|_, request| usual(request)));
    assert_eq!(end.status, JobStatus::Completed);
    (stage, job)
}

/// A branch within the second day.
fn branch(stage: &Stage, at: &str, agent: Option<AgentConfig>) -> (JobId, Arc<Scripted>) {
    let date = stage.data.days()[1].date;
    let job = stage.queue_with(&format!("branch at {at}"), |config| {
        config.branch =
            Some(Branch { job: "parent".into(), date, at: at.to_owned(), agent, earlier: Vec::new() });
    });
    let models = stage.models(|_, request| match turn_of(request) {
        1 => buy(2),
        _ => done(),
    });
    let end = stage.run(&job, &models);
    assert_eq!(end.status, JobStatus::Completed, "{end:?}");
    (job, models)
}

fn reused(stage: &Stage, job: &JobId, day: usize) -> Vec<String> {
    let kept = stage.kept(job, day);
    let steps = kept.steps.iter().filter(|step| step.reused_from.is_some());
    steps.map(|step| step.path.to_string()).collect()
}

// Goal: earlier days and what comes before the cut are copied with their origin; from the cut on, and on later
// days, every call is made again, even if the request is the same.
#[test]
fn what_comes_before_the_cut_is_copied() {
    let all = ["solo#1/model#1", "solo#1/model#2", "solo#1/model#3"];
    // The branch's own conversation has two model calls: a purchase and the end.
    let cases = [
        ("pre#1", 0, 4),
        ("solo#1", 0, 4),
        ("solo#1/model#1", 0, 4),
        ("solo#1/model#2", 1, 3),
        ("solo#1/order#1", 2, 3),
        ("bar#1", 3, 2),
        ("close#1", 3, 2),
    ];
    for (at, copied, asked) in cases {
        let (stage, parent) = parent();
        let (job, models) = branch(&stage, at, None);
        assert_eq!(reused(&stage, &job, 0), all, "{at}: the first day is the parent's");
        assert_eq!(reused(&stage, &job, 1), all[..copied], "{at}");
        assert!(reused(&stage, &job, 2).is_empty(), "{at}: the third day is its own");
        assert_eq!(models.sent().len(), asked, "{at}");
        let origin = stage.kept(&job, 0).steps.iter().find_map(|step| step.reused_from.clone());
        let origin = origin.map(|origin| (origin.job.to_string(), origin.path.to_string()));
        assert_eq!(origin, Some(("parent".to_owned(), "solo#1/model#1".to_owned())));
        assert_eq!(stage.kept(&job, 0).canonical(), stage.kept(&parent, 0).canonical());

        // The branch itself replays.
        let services = stage.services(&stage.models(|_, _| done()));
        let report = stage.clock.run(replay::run(&services, &stage.job(&job))).expect("a report");
        assert_eq!((report.equal, report.faults), (3, Vec::new()), "{at}");
    }
}

// Goal: a changed agent applies from the cut on: for a cut after the conversation, from the next day.
#[test]
fn a_changed_agent_holds_from_the_cut_on() {
    for (at, from_day) in [("pre#1", 1), ("solo#1", 1), ("solo#1/model#2", 2), ("bar#1", 2), ("close#1", 2)] {
        let (stage, _) = parent();
        let mut changed = stage.agents[0].clone();
        changed.instructions = Some("Be bold.".to_owned());
        let (job, _) = branch(&stage, at, Some(changed));
        for day in 0..3 {
            let kept = stage.kept(&job, day);
            let system = &kept.texts[&kept.instructions["solo#1"]];
            assert_eq!(system.contains("Be bold."), day >= from_day, "{at}, day {day}");
        }
        let services = stage.services(&stage.models(|_, _| done()));
        let report = stage.clock.run(replay::run(&services, &stage.job(&job))).expect("a report");
        assert_eq!((report.equal, report.faults), (3, Vec::new()), "{at}");
    }
}

// Goal: a branch's fingerprint covers what determines its outcome, but not deadlines.
#[test]
fn a_branchs_deadlines_are_outside_of_its_hashes() {
    let stage = Stage::new();
    let hashes = |timeout: u64, instructions: &str| {
        let (mut config, _) = stage.config();
        let mut agent = stage.agents[0].clone();
        agent.limits.call_timeout_secs = timeout;
        agent.instructions = Some(instructions.to_owned());
        let (job, date, at) = (JobId::new("parent"), stage.data.days()[1].date, "solo#1".to_owned());
        config.branch = Some(Branch { job, date, at, agent: Some(agent), earlier: Vec::new() });
        (config.fingerprint(), config.agent_hash(&stage.agents[0], config.dataset.hash))
    };
    assert_eq!(hashes(1, "a"), hashes(99, "a"));
    assert_ne!(hashes(1, "a").0, hashes(1, "b").0);
    assert_ne!(hashes(1, "a").1, hashes(1, "b").1);
}

//! Desks as jobs: a branch at a node of their partial order, a deadline that cancels a call, replay.

use crate::stage::{Scripted, Stage, Turn, fails, says, secs};
use papertape_agents::config::AgentConfig;
use papertape_core::id::{JobId, Symbol};
use papertape_core::message::{FailureKind, ModelRequest};
use papertape_core::record::JobStatus;
use papertape_core::tape::{OutcomeKind, StepState};
use papertape_runtime::config::Branch;
use papertape_runtime::replay;
use papertape_testkit::data::SmallData;
use serde_json::json;
use std::sync::Arc;

const AAPL: [[&str; 4]; 3] =
    [["100", "110", "90", "105"], ["106", "112", "104", "110"], ["111", "115", "108", "112"]];
const IBM: [[&str; 4]; 3] = [["10", "11", "9", "10"], ["10", "12", "9", "11"], ["11", "12", "10", "12"]];

fn stage() -> Stage {
    let mut stage = Stage::new();
    stage.data = Arc::new(SmallData::new("2024-01-02", 3).symbol("AAPL", &AAPL).symbol("IBM", &IBM).build());
    stage.agents = vec![AgentConfig::desk("desk".into(), "openai::gpt-5".parse().expect("a model"))];
    stage
}

fn role(request: &ModelRequest) -> &str {
    let instructions = request.instructions.as_deref().unwrap_or_default();
    instructions.lines().next().and_then(|line| line.strip_prefix("Role: ")).expect("a role")
}

/// Responds as each role must.
fn plays(request: &ModelRequest) -> Turn {
    match role(request) {
        "Research Manager" => {
            says(&json!({ "recommendation": "Buy", "rationale": "r", "strategic_actions": "a" }).to_string())
        }
        "Trader" => says(&json!({ "action": "Buy", "reasoning": "r" }).to_string()),
        "Portfolio Manager" => {
            says(&json!({ "rating": "Buy", "executive_summary": "s", "investment_thesis": "t" }).to_string())
        }
        role => says(&format!("{role} says so.")),
    }
}

fn queue(stage: &Stage, id: &str, branch: Option<Branch>) -> JobId {
    stage.queue_with(id, |config| {
        config.symbols = ["AAPL", "IBM"].map(Symbol::new).into();
        config.branch = branch;
    })
}

fn replays(stage: &Stage, job: &JobId) {
    let mute: Arc<Scripted> = stage.models(|_, _| unreachable!("a replay asks nobody"));
    let report = stage.clock.run(replay::run(&stage.services(&mute), &stage.job(job))).expect("a report");
    assert_eq!((report.equal, report.faults), (3, Vec::new()));
}

// Goal: a branch at a node copies everything that is not at or after the node, other symbols entirely, and makes
// the remaining calls with the changed agent, as it does on later days; and it replays.
#[test]
fn a_branch_copies_what_the_cut_does_not_reach() {
    let stage = stage();
    let parent = queue(&stage, "parent", None);
    assert_eq!(stage.run(&parent, &stage.models(|_, request| plays(request))).status, JobStatus::Completed);
    replays(&stage, &parent);
    let mut changed = stage.agents[0].clone();
    changed.model = "openai::other".parse().expect("a model");
    let date = stage.data.days()[1].date;
    for (at, copied) in [
        ("AAPL/Trader#1", 7 + 12),
        ("AAPL/News Analyst#1", 3 + 12),
        ("IBM", 12),
        ("sizing#1", 24),
        ("pre#1", 0),
    ] {
        let branch = Branch {
            job: parent.clone(),
            date,
            at: at.to_owned(),
            agent: Some(changed.clone()),
            earlier: Vec::new(),
        };
        let job = queue(&stage, &format!("branch at {at}"), Some(branch));
        let models = stage.models(|_, request| plays(request));
        assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
        assert_eq!(models.sent().len(), (24 - copied) + 24, "{at}");
        let kept = stage.kept(&job, 1);
        let reused: Vec<&str> = kept
            .steps
            .iter()
            .filter(|step| step.reused_from.is_some())
            .map(|step| step.path.as_str())
            .collect();
        assert_eq!(reused.len(), copied, "{at}: {reused:?}");
        for step in kept.steps.iter().filter(|step| step.path.kind() == "model") {
            let wanted = if step.reused_from.is_some() { "openai::gpt-5" } else { "openai::other" };
            let request = kept.document(step.request_ref).expect("it is kept");
            assert_eq!(request["model"], wanted, "{at}: {}", step.path);
        }
        replays(&stage, &job);
    }
}

// Goal: a node's deadline cancels its call, although the call's own timeout is longer and allows retries; a
// replay reads the guard's outcome.
#[test]
fn a_nodes_deadline_ends_its_call() {
    let stage = stage();
    let job = queue(&stage, "slow", None);
    let models = stage.models(|_, request| match role(request) {
        "Bull Researcher" => says("too late").taking(secs(100)),
        "Bear Researcher" => fails(FailureKind::RateLimited, "slow down").asking_for(secs(60)),
        _ => plays(request),
    });
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
    // Three days with two concurrent symbols: 30 seconds for Bull, 30 for Bear.
    assert_eq!(stage.clock.elapsed(), secs(3 * 60));
    let kept = stage.kept(&job, 0);
    for path in ["AAPL/Bull Researcher#1", "IBM/Bear Researcher#1"] {
        assert_eq!(kept.state(&format!("{path}/guard#1")), "done(timed_out)");
        assert_eq!(kept.state(&format!("{path}/model#1")), "abandoned");
    }
    let metadata = &kept.closing.as_ref().expect("an end").metadata;
    assert_eq!(metadata["research"]["timed_out_nodes"], json!(["Bull Researcher", "Bear Researcher"]));
    assert_eq!(metadata["research"]["degraded_reason"], "bull_researcher_timeout");
    replays(&stage, &job);
}

// Goal: waiting for one of the process's slots does not slow a desk down: eight nodes of two symbols share one
// slot, each responds within its own deadline, and none is degraded; the wait does not count toward a session's
// time either.
#[test]
fn waiting_for_a_place_degrades_nothing() {
    let mut stage = stage();
    stage.places = 1;
    let job = queue(&stage, "queued", None);
    let models = stage.models(|_, request| plays(request).taking(secs(20)));
    let end = stage.run(&job, &models);
    assert_eq!(end.status, JobStatus::Completed, "{end:?}");
    for day in 0..3 {
        let kept = stage.kept(&job, day);
        let rows = kept.rows();
        let guards = rows.iter().filter(|row| row.path.kind() == "guard").collect::<Vec<_>>();
        assert!(guards.is_empty(), "{guards:?}");
    }
    let asked = u64::try_from(models.sent().len()).expect("a few");
    assert_eq!(stage.clock.elapsed(), secs(20 * asked), "one after the other");

    // A node that is slow itself still times out, after its own time.
    let mut stage = self::stage();
    stage.places = 1;
    let job = queue(&stage, "slow", None);
    let slow = |request: &ModelRequest| role(request) == "Bull Researcher";
    let models =
        stage.models(move |_, request| plays(request).taking(secs(if slow(request) { 31 } else { 20 })));
    stage.run(&job, &models);
    let kept = stage.kept(&job, 0);
    let cut: Vec<String> = kept
        .rows()
        .iter()
        .filter(|row| row.state == StepState::Done(OutcomeKind::TimedOut) && row.path.kind() == "guard")
        .map(|row| row.path.node().to_owned())
        .collect();
    assert_eq!(cut, ["Bull Researcher#1", "Bull Researcher#1"], "of two symbols");
}

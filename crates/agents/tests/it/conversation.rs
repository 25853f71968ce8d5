//! A day's conversation and its possible ends.

use crate::stage::{Stage, buy, call, calls, data, done};
use papertape_core::message::{FailureKind, FinishReason, ModelReply};
use papertape_core::provenance::DayQuality;
use papertape_core::record::DayStatus;
use papertape_testkit::host::Act;
use serde_json::json;

fn price() -> Act<ModelReply> {
    call("get_price", json!({ "symbol": "AAPL" }))
}

// Goal: every end has its name, and its cause decides the day's status.
#[test]
fn every_end_has_its_name() {
    let cut_short = Act::Answer(ModelReply {
        text: "I thi".to_owned(),
        finish: FinishReason::Length,
        ..ModelReply::default()
    });
    let failed = Act::Fail(FailureKind::Unavailable, "503".to_owned());
    let cases = [
        (vec![price(), done()], "finish_signal", 2, DayStatus::Completed),
        (vec![price(), Act::text("I hold.")], "final_answer", 2, DayStatus::Completed),
        (vec![cut_short], "cut_short", 1, DayStatus::Completed),
        (vec![price(), price(), price(), price()], "step_limit", 3, DayStatus::Completed),
        (vec![price(), failed], "failed", 2, DayStatus::Failed),
    ];
    for (replies, end, steps, status) in cases {
        let mut stage = Stage::new(data());
        stage.agent.limits.max_steps = 3;
        let day = stage.day(2, stage.start(), replies);
        assert_eq!(day.conversation()["end"], end);
        assert_eq!(day.conversation()["steps"], steps, "{end}");
        assert_eq!(day.result.closing.status, status, "{end}");
        assert_eq!(day.result.closing.error.is_some(), status == DayStatus::Failed);
        // The books continue nevertheless.
        assert_eq!(day.positions().last().map(|row| row.action_type.clone()).as_deref(), Some("no_trade"));
        assert_eq!(day.result.state.books.reached(), Some(stage.data.days()[2].date));
    }
}

// Goal: the finish signal ends the day after the calls in the same message, not before.
#[test]
fn the_signal_comes_after_its_calls() {
    let stage = Stage::new(data());
    let Act::Answer(reply) = buy("AAPL", 1) else { unreachable!() };
    let last = ModelReply { text: "One more. <FINISH_SIGNAL>".to_owned(), ..reply };
    let day = stage.day(2, stage.start(), vec![Act::Answer(last)]);
    assert_eq!(day.orders().len(), 1);
    assert_eq!(day.conversation()["end"], "finish_signal");
}

// Goal: a failed call is an outcome of the day, shown in its record, and the run continues with the next day.
#[test]
fn a_failed_call_ends_the_day_and_not_the_run() {
    let stage = Stage::new(data());
    let failed = Act::Fail(FailureKind::RateLimited, "429".to_owned());
    let day = stage.day(1, stage.start(), vec![buy("AAPL", 3), failed]);
    assert_eq!(day.result.closing.error.as_deref(), Some("rate_limited: 429"));
    assert_eq!(day.result.closing.metadata["data_quality"]["state"], "failed");
    assert_eq!(day.conversation()["failure"]["kind"], "rate_limited");
    let next = stage.day(2, day.result.state, vec![done()]);
    assert!(next.question().contains("{\"AAPL\":3}"), "{}", next.question());
    assert_eq!(next.result.closing.status, DayStatus::Completed);
}

// Goal: the record has the whole conversation in order, with the system prompt once.
#[test]
fn the_record_has_the_conversation() {
    let stage = Stage::new(data());
    let turn = calls(&[("get_price", json!({ "symbol": "AAPL" })), ("get_portfolio", json!({}))]);
    let day = stage.day(2, stage.start(), vec![turn, done()]);
    let roles: Vec<String> = day.kept.messages().into_iter().map(|(role, _)| role).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "assistant"]);
    assert_eq!(day.kept.instructions.len(), 1);
    let meta = &day.result.closing.metadata;
    assert_eq!((&meta["agent_kind"], &meta["is_llm"]), (&json!("solo"), &json!(true)));
    assert_eq!(meta["point_in_time"], "verified");
    assert_eq!(meta["data_quality"], json!({ "state": "ok" }));
}

// Goal: deadlines and retries are not part of an agent's fingerprint; everything else is.
#[test]
fn the_fingerprint_leaves_deadlines_out() {
    let base = Stage::new(data()).agent;
    let change = |change: &dyn Fn(&mut papertape_agents::config::AgentConfig)| {
        let mut agent = base.clone();
        change(&mut agent);
        agent.fingerprint() != base.fingerprint()
    };
    assert!(!change(&|agent| agent.limits.call_timeout_secs = 1));
    assert!(!change(&|agent| agent.limits.session_timeout_secs = 1));
    assert!(!change(&|agent| agent.limits.max_attempts = 1));
    assert!(change(&|agent| agent.limits.max_steps = 1));
    assert!(change(&|agent| agent.instructions = Some(String::new())));
    assert!(change(&|agent| agent.sampling.temperature = Some(0.5)));
    assert!(change(&|agent| agent.language = papertape_core::language::Language::Zh));
    assert!(change(&|agent| agent.tools = vec!["web".to_owned()]));
}

// Goal: a day on which a trader read nothing, ordered nothing and never declared that it was done counts as
// no decision, with the reason; any one of the three makes it a decision.
#[test]
fn nothing_read_ordered_or_finished_is_no_decision() {
    let cut_short = || {
        Act::Answer(ModelReply {
            text: "I thi".to_owned(),
            finish: FinishReason::Length,
            ..ModelReply::default()
        })
    };
    let unknown = || call("get_moon", json!({ "phase": "full" }));
    let wrong = || call("get_price", json!({ "symbol": "NOPE" }));
    let count = || call("calculate", json!({ "expression": "1 + 1" }));
    let bad_order = || call("buy", json!({ "symbol": 7 }));
    let text = || Act::text("The moon is full, so I hold.");
    let undecided = [
        (vec![text()], "solo_no_finish_signal"),
        (vec![unknown(), text()], "solo_no_finish_signal"),
        (vec![wrong(), text()], "solo_no_finish_signal"),
        (vec![count(), bad_order(), text()], "solo_no_finish_signal"),
        (vec![cut_short()], "solo_cut_short"),
        (vec![unknown(), unknown(), unknown(), unknown()], "solo_step_limit"),
    ];
    let decided = [
        vec![done()],
        vec![unknown(), done()],
        vec![price(), text()],
        vec![call("get_portfolio", json!({})), text()],
        vec![buy("AAPL", 1), text()],
        vec![buy("AAPL", 1_000_000), text()],
        vec![price(), cut_short()],
    ];
    let day = |replies| {
        let mut stage = Stage::new(data());
        stage.agent.limits.max_steps = 4;
        stage.day(2, stage.start(), replies)
    };
    for (replies, reason) in undecided {
        let day = day(replies);
        let metadata = &day.result.closing.metadata;
        assert_eq!(metadata["data_quality"]["state"], "no_decision", "{reason}");
        assert_eq!(metadata["data_quality"]["reason_codes"], json!([reason]));
        assert_eq!(metadata["sample_quality"], "degraded_research", "{reason}");
        assert_eq!(day.result.closing.status, DayStatus::Completed);
        let quality = DayQuality::of(DayStatus::Completed, None, Some(metadata)).expect("is over");
        assert!(quality.is_degraded() && quality.reason.as_deref() == Some(reason), "{quality:?}");
    }
    for (at, replies) in decided.into_iter().enumerate() {
        let day = day(replies);
        let metadata = &day.result.closing.metadata;
        assert_eq!(metadata["data_quality"], json!({ "state": "ok" }), "{at}");
        assert_eq!(metadata["sample_quality"], "full_research", "{at}");
    }
}

// Goal: when a call ended the conversation, the reason says so, whichever limit the call exceeded.
#[test]
fn a_failed_day_has_its_reason() {
    for (kind, reason) in
        [(FailureKind::TimedOut, "solo_timeout"), (FailureKind::Unavailable, "solo_unavailable")]
    {
        let stage = Stage::new(data());
        let day = stage.day(2, stage.start(), vec![Act::Fail(kind, "no".to_owned())]);
        let metadata = &day.result.closing.metadata;
        assert_eq!(metadata["data_quality"], json!({ "state": "failed", "reason_codes": [reason] }));
        assert_eq!(metadata["sample_quality"], "degraded_research");
    }
}

//! Actions: their rows before and after, their writes with the outcome, and no action twice.

use crate::tape_support::{CALL, Stage, request, secs};
use papertape_core::action::{ActionDraft, ActionKind, ActionStatus};
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::plan::{PlanId, PlanWrite};
use papertape_core::ports::ExternalCall;
use papertape_core::record::Write;
use papertape_core::tape::{
    ActionBlock, ActionOptions, ActionOutcome, ActionReply, ActionRequest, Ctx, SessionStop,
};
use papertape_redact::{Redactor, Sanitized};
use papertape_testkit::host::Act;
use papertape_testkit::kept::StoredSnapshot;
use serde_json::{Value, json};

fn ask(name: &str, hold: Option<ActionBlock>) -> ActionRequest {
    ActionRequest {
        call: ExternalCall { server: "assistant".to_owned(), tool: name.to_owned(), arguments: json!({}) },
        row: Some(ActionDraft::of(ActionKind::PlanOperation, name, ActionStatus::Running, "")),
        hold,
        options: ActionOptions { timeout: secs(60), retries: 0, backoff: secs(0) },
    }
}

/// Deletes the plan of the action's path.
fn acted(message: &str) -> ActionOutcome {
    let write =
        Sanitized::of(&Redactor::new(Vec::new()).expect("a redactor"), PlanWrite::Delete { plan: PlanId(3) });
    let reply = ActionReply { message: message.to_owned(), data: json!({ "n": 1 }), plan: Some(PlanId(3)) };
    ActionOutcome { reply, effects: vec![Write::Plan(Box::new(write))] }
}

/// The log's rows: name, status, message, path.
fn log(kept: &StoredSnapshot) -> Vec<(String, String, Option<String>, Value)> {
    let row = |entry: &papertape_core::action::ActionEntry| {
        let row = entry.row();
        let details = row.details.clone().unwrap_or_default();
        (row.name.clone(), row.status.to_string(), row.message.clone(), details["action"].clone())
    };
    kept.actions.iter().map(row).collect()
}

/// Calls a model, runs an action, calls the model again.
async fn program(mut ctx: Ctx) -> Result<String, SessionStop> {
    ctx.model(&request("What first?"), CALL).await?.expect("answers");
    let reply = ctx.action(ask("delete_plan", None)).await?.expect("acts");
    ctx.model(&request("What next?"), CALL).await?.expect("answers");
    Ok(reply.message)
}

/// Goal: the running row is written before the action runs, the completed row and its change with its
/// outcome.
#[test]
fn rows_come_before_and_after() {
    let stage = Stage::new();
    let host = stage.host().with_actions(|_, _| Act::Answer(acted("gone")));
    let (result, host) = stage.run(host, program);
    assert_eq!(result.expect("ends"), "gone");
    let at = json!("action#1");
    let row = |status: &str, message: Option<&str>| {
        ("delete_plan".to_owned(), status.to_owned(), message.map(str::to_owned), at.clone())
    };
    assert_eq!(log(&stage.kept()), [row("running", None), row("completed", Some("gone"))]);
    assert_eq!(stage.kept().plans.len(), 1);
    let trace = host.trace();
    let place = |what: &str| trace.iter().position(|one| one == what).expect("it happened");
    assert!(
        place("commit 3") < place("call action#1") && place("answer action#1") < place("commit 4"),
        "{trace:?}"
    );
}

/// Goal: killed at any boundary and run again, the action is in the log once as running and once as
/// completed, its change is applied once, and an action with a recorded outcome does not run again.
#[test]
fn a_crash_anywhere_does_it_once() {
    let actions = |_: &_, _: &_| Act::Answer(acted("gone"));
    let boundaries = {
        let stage = Stage::new();
        let (result, host) = stage.run(stage.host().with_actions(actions), program);
        result.expect("ends");
        host.boundaries()
    };
    for at in 0..boundaries {
        let stage = Stage::new();
        let (_, killed) = stage.run(stage.host().with_actions(actions).crashing_at(at), program);
        let was_kept = stage.kept().actions.len() == 2;
        let (result, host) = stage.run(stage.host().with_actions(actions), program);
        assert_eq!(result.expect("ends"), "gone", "killed at {at}");
        let states: Vec<String> = log(&stage.kept()).into_iter().map(|(_, status, ..)| status).collect();
        assert_eq!(states, ["running", "completed"], "killed at {at}");
        assert_eq!(stage.kept().plans.len(), 1, "killed at {at}");
        let again = host.calls().into_iter().any(|(path, _)| path.as_str() == "action#1");
        assert!(!(was_kept && again), "killed at {at}: {:?}", killed.trace());
    }
}

/// Goal: a denied action, or one that awaits confirmation, does not run, and the log has one row for it.
#[test]
fn what_is_held_is_not_done() {
    let stage = Stage::new();
    let (result, host) = stage.run(stage.host(), async |mut ctx: Ctx| {
        let refused =
            ctx.action(ask("fly", Some(ActionBlock::Denied("there is no action `fly`".to_owned())))).await?;
        let waits = ctx
            .action(ask("delete_plan", Some(ActionBlock::AwaitingConfirmation("Shall I?".to_owned()))))
            .await?;
        Ok((refused, waits))
    });
    let failure = |message: &str| CallFailure { kind: FailureKind::BadRequest, message: message.to_owned() };
    let (refused, waits) = result.expect("ends");
    assert_eq!((refused, waits), (Err(failure("there is no action `fly`")), Err(failure("Shall I?"))));
    let states: Vec<String> = log(&stage.kept()).into_iter().map(|(_, status, ..)| status).collect();
    assert_eq!(states, ["failed", "queued"]);
    assert!(host.calls().is_empty());
}

/// Goal: a change that the plan's rules reject at the write is a failed action, nothing else is lost, and a
/// re-run gives the same.
#[test]
fn a_refused_change_is_a_failed_action() {
    let stage = Stage::new();
    let program = async |mut ctx: Ctx| {
        let secret = "the same words, long enough to stand on their own in the record, as all long texts do";
        let kept = ctx.push_user_message(secret).await?;
        let result = ctx.action(ask("delete_plan", None)).await?;
        ctx.push_user_message(secret).await?;
        Ok((kept, result))
    };
    let host = stage.host().with_actions(|_, _| Act::Answer(acted("gone"))).refusing_plans();
    let (first, _) = stage.run(host, program);
    let (_, result) = first.clone().expect("ends");
    assert_eq!(result.expect_err("refused").message, "the plan is gone");
    let states: Vec<String> = log(&stage.kept()).into_iter().map(|(_, status, ..)| status).collect();
    assert_eq!(states, ["running", "failed"]);
    assert!(stage.kept().plans.is_empty());
    let (again, host) = stage.run_on(stage.tape().replay_only(), stage.host(), program);
    assert_eq!(again.expect("ends"), first.expect("ends"));
    assert!(host.calls().is_empty());
}

/// Goal: concurrent actions have paths in the program's order, whichever ends first.
#[test]
fn actions_side_by_side_keep_their_places() {
    let stage = Stage::new();
    let host = stage.host().with_actions(|path, _| {
        let late = if path.as_str() == "action#1" { 9 } else { 1 };
        let reply = ActionReply { message: path.to_string(), ..ActionReply::default() };
        Act::Answer(ActionOutcome { reply, effects: Vec::new() }).after(secs(late))
    });
    let (result, host) = stage.run(host, async |mut ctx: Ctx| {
        let (slow, quick) = (ctx.action(ask("one", None)), ctx.action(ask("two", None)));
        let (slow, quick) = futures::future::try_join(slow, quick).await?;
        Ok([slow, quick].map(|reply| reply.expect("acts").message))
    });
    assert_eq!(result.expect("ends"), ["action#1", "action#2"]);
    let trace = host.trace();
    let place = |what: &str| trace.iter().position(|one| one == what).expect("it happened");
    assert!(place("answer action#2") < place("answer action#1"), "{trace:?}");
}

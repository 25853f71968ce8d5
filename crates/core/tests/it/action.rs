//! The action log's rows and their summary.

use papertape_core::action::{ACTION_KEY, ActionDraft, ActionEntry, ActionKind, ActionStatus, summarize};
use papertape_core::language::Language;
use papertape_redact::Redactor;
use serde_json::json;

fn row(name: &str, status: ActionStatus, action: &str) -> ActionDraft {
    ActionDraft::of(ActionKind::PlanOperation, name, status, action)
}

/// Goal: no row contains a secret, whichever field it was in; redactions are counted; long texts are
/// truncated only afterwards; an action that has not ended is neither a success nor a failure.
#[test]
fn a_row_is_redacted_counted_and_cut() {
    let redactor =
        Redactor::new(vec![("key".to_owned(), "correct-horse-battery".to_owned())]).expect("long enough");
    let secret = "use correct-horse-battery here";
    let draft = ActionDraft {
        user_message: Some(secret.to_owned()),
        message: Some(format!("{} {secret}", "x".repeat(5000))),
        details: Some(json!({ "nested": [secret], "api_key": "Zq81-f3Kd-0aVx7" })),
        name: secret.to_owned(),
        ..row("web_search", ActionStatus::Running, "turn#1/action#1")
    };
    let entry = ActionEntry::redacted(&redactor, draft);
    let text = format!("{:?}", entry.row());
    assert!(!text.contains("correct-horse-battery") && !text.contains("Zq81-f3Kd-0aVx7"), "{text}");
    assert_eq!(entry.redactions(), 5);
    assert!(entry.row().message.as_ref().is_some_and(|message| message.chars().count() <= 4096));
    assert_eq!(entry.success(), None);
    let ended = |status| ActionEntry::redacted(&redactor, row("x", status, "a")).success();
    assert_eq!((ended(ActionStatus::Completed), ended(ActionStatus::Failed)), (Some(true), Some(false)));
}

/// Goal: a reply lists each action once, in starting order and in its last state, even when two of the same
/// name ran concurrently.
#[test]
fn a_summary_has_each_action_once() {
    let failed = ActionDraft {
        message: Some("no such plan".to_owned()),
        ..row("delete_plan", ActionStatus::Failed, "c")
    };
    let rows = [
        row("create_plan", ActionStatus::Running, "a"),
        row("create_plan", ActionStatus::Running, "b"),
        row("create_plan", ActionStatus::Completed, "b"),
        row("delete_plan", ActionStatus::Running, "c"),
        failed,
    ];
    let zh = summarize(&rows, Language::Zh);
    let brief: Vec<(usize, &str, Option<bool>)> =
        zh.iter().map(|one| (one.order, one.display.as_str(), one.success)).collect();
    assert_eq!(
        brief,
        [
            (1, "plan_operation/create_plan → 进行中", None),
            (2, "plan_operation/create_plan → 成功", Some(true)),
            (3, "plan_operation/delete_plan → 失败", Some(false)),
        ]
    );
    assert_eq!(zh[2].message.as_deref(), Some("no such plan"));
    let en = summarize(&rows, Language::En);
    assert_eq!(en[1].display, "plan_operation/create_plan → succeeded");
}

/// Goal: rows without an action key, as in older files, are paired by kind and name.
#[test]
fn rows_without_a_key_are_paired_by_name() {
    let plain = |status| ActionDraft { details: None, ..row("show_tasks", status, "") };
    let rows = [
        plain(ActionStatus::Running),
        plain(ActionStatus::Completed),
        plain(ActionStatus::Running),
        plain(ActionStatus::Failed),
    ];
    let found: Vec<Option<bool>> = summarize(&rows, Language::En).iter().map(|one| one.success).collect();
    assert_eq!(found, [Some(true), Some(false)]);
    let other = ActionDraft { details: Some(json!({ ACTION_KEY: null })), ..plain(ActionStatus::Running) };
    assert_eq!(summarize([&other], Language::En).len(), 1);
}

//! What requires confirmation, and what confirms it.

use papertape_assistant::actions::action;
use papertape_assistant::confirm::{Pending, confirmed, is_yes, requires_confirmation};
use papertape_assistant::protocol::RetryPolicy;
use papertape_assistant::summary::paragraph;
use papertape_core::action::{ActionDraft, ActionKind, ActionStatus, summarize};
use papertape_core::language::Language;
use serde_json::{Map, Value, json};
use std::time::Duration;

fn pending(name: &str, plan: i64) -> Pending {
    let parameters: Map<_, _> = json!({ "plan_id": plan }).as_object().expect("an object").clone();
    Pending::new(action(name).expect("an action"), &parameters, RetryPolicy::default(), Language::En, None)
}

/// Goal: deleting always requires confirmation, incurring cost only after untrusted text was read, and reading
/// never.
#[test]
fn deleting_asks_and_spending_after_foreign_text() {
    let asks_with = |name: &str, parameters: Value, tainted: bool| {
        let parameters = parameters.as_object().expect("an object").clone();
        requires_confirmation(action(name).expect("an action"), &parameters, tainted)
    };
    let asks = |name: &str, tainted: bool| asks_with(name, json!({}), tainted);
    for name in ["execute_plan", "rerun_task"] {
        assert!(
            asks_with(name, json!({ "trusted": true }), false),
            "{name} asks before its tasks are trusted"
        );
        assert!(!asks_with(name, json!({ "trusted": false }), false), "{name}");
    }
    for name in ["delete_plan", "delete_task"] {
        assert!(asks(name, false) && asks(name, true), "{name}");
    }
    for name in ["run_simulation", "execute_plan", "decompose_task", "rerun_task"] {
        assert!(!asks(name, false) && asks(name, true), "{name}");
    }
    for name in ["web_search", "create_plan", "query_results", "help"] {
        assert!(!asks(name, true), "{name}");
    }
}

/// Goal: a plain yes confirms everything, an ID only its own action, and anything else nothing.
#[test]
fn words_and_tokens_confirm() {
    for yes in ["yes", "Yes!", " OK. ", "go ahead", "是", "好的。", "确认", "Yes, please"] {
        assert!(is_yes(yes), "{yes}");
    }
    for no in ["", "no", "yes but not plan 3", "不是", "yesterday", "delete everything", "好的，但是先别"]
    {
        assert!(!is_yes(no), "{no}");
    }
    let both = vec![pending("delete_plan", 1), pending("delete_plan", 2)];
    assert_ne!(both[0].id, both[1].id);
    assert_eq!(confirmed(both.clone(), "yes", &[]), both);
    assert_eq!(confirmed(both.clone(), "hm", &[both[1].id.clone()]), [both[1].clone()]);
    assert!(confirmed(both, "no", &["x".to_owned()]).is_empty());
    assert!(pending("delete_plan", 1).question.contains("permanently deletes"));
}

/// Goal: a pending action keeps its retry policy, and one stored without it can be read.
#[test]
fn what_waits_keeps_its_retry_policy() {
    let retry_policy = RetryPolicy { max_retries: 2, backoff: Duration::from_millis(1500) };
    let kept = serde_json::to_value(Pending { retry_policy, ..pending("execute_plan", 3) }).expect("JSON");
    assert_eq!(kept["retry_policy"], json!({ "max_retries": 2, "backoff_sec": 1.5 }));
    let read: Pending = serde_json::from_value(kept).expect("is read");
    assert_eq!(read.retry_policy, retry_policy);
    let plain = serde_json::to_value(pending("delete_plan", 1)).expect("JSON");
    assert_eq!(plain.get("retry_policy"), None);
    assert_eq!(serde_json::from_value::<Pending>(plain).expect("is read"), pending("delete_plan", 1));
}

/// Goal: languages are detected from tags and from text.
#[test]
fn languages_are_told() {
    assert_eq!((Language::detect("Hello"), Language::detect("看 AAPL")), (Language::En, Language::Zh));
    assert_eq!(
        (
            Language::from_tag("en_GB.UTF-8"),
            Language::from_tag("zh-Hans"),
            Language::from_tag("C"),
            Language::from_tag("de")
        ),
        (Some(Language::En), Some(Language::Zh), None, None)
    );
}

/// Goal: the paragraph has one line per action, in the reader's language, and long messages are truncated.
#[test]
fn actions_are_summed_up() {
    let row = ActionDraft {
        message: Some("x ".repeat(400)),
        ..ActionDraft::of(
            ActionKind::PlanOperation,
            "create_plan",
            ActionStatus::Completed,
            "turn#1/action#1",
        )
    };
    let text = |language| paragraph(&summarize([&row], language), language).expect("there are actions");
    assert!(text(Language::Zh).starts_with("动作摘要：\n1. plan_operation/create_plan → 成功（x x"));
    assert!(text(Language::En).starts_with("Actions:\n1. plan_operation/create_plan → succeeded (x x"));
    assert!(text(Language::En).ends_with("…)") && text(Language::En).chars().count() < 300);
    assert_eq!(paragraph(&[], Language::En), None);
}

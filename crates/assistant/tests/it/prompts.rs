//! Prompts can be rendered and overridden.

use papertape_assistant::actions::{ACTIONS, ActionSpec};
use papertape_assistant::conversation::instructions;
use papertape_assistant::prompt::Prompts;
use papertape_assistant::settings::{ModelSettings, ReplyFormat};
use papertape_core::language::Language;
use papertape_core::message::Sampling;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn model(language: Language, reply_format: ReplyFormat) -> ModelSettings {
    let model = "house::assistant".parse().expect("a model");
    ModelSettings { model, house_version: None, sampling: Sampling::default(), reply_format, language }
}

fn any(_: &ActionSpec) -> bool {
    true
}

/// Goal: every prompt renders in both languages, and describes every action if there are no native tools.
#[test]
fn every_prompt_is_filled_in() {
    let prompts = Prompts::built_in();
    for language in [Language::En, Language::Zh] {
        for name in ["chat", "task"] {
            let told = instructions(&prompts, name, &model(language, ReplyFormat::Structured), any)
                .expect("a prompt");
            assert!(
                ACTIONS.iter().all(|spec| told.contains(&format!("{}/{}", spec.kind, spec.name))),
                "{told}"
            );
            let bare =
                instructions(&prompts, name, &model(language, ReplyFormat::Tools), any).expect("a prompt");
            assert!(!bare.contains("create_plan") && !bare.contains("{%"), "{bare}");
        }
        let message = json!({ "agents": ["a"], "datasets": ["d"], "plan": 3, "context": Value::Null, "confirmed": Value::Null, "message": "{{ x }}" });
        let told = prompts.render("message", language, message).expect("a prompt");
        assert!(told.ends_with("{{ x }}"), "a person's words are no template: {told}");
        let task = json!({ "agents": [], "datasets": [], "plan": "P", "results": ["a fenced result"], "id": 2, "name": "m", "instruction": "i" });
        prompts.render("task-message", language, task).expect("a prompt");
        prompts.render("decompose", language, json!({ "max_children": 5 })).expect("a prompt");
        let node = json!({ "context": "a fenced plan", "name": "", "instruction": "i" });
        prompts.render("decompose-message", language, node).expect("a prompt");
    }
}

/// Goal: a prompt is overridden by its name, and a different set has a different hash.
#[test]
fn prompts_can_be_replaced() {
    let one = |name: &str, text: &str| BTreeMap::from([(name.to_owned(), text.to_owned())]);
    let replaced = Prompts::with_overrides(&one("assistant/decompose.en.md", "At most {{ max_children }}"))
        .expect("a set");
    assert_eq!(
        replaced.render("decompose", Language::En, json!({ "max_children": 2 })).expect("a prompt"),
        "At most 2"
    );
    assert_ne!(replaced.hash(), Prompts::built_in().hash());
    let unknown = Prompts::with_overrides(&one("assistant/none.en.md", "x")).expect_err("unknown");
    assert!(unknown.to_string().contains("assistant/chat.en.md"), "{unknown}");
    assert!(Prompts::with_overrides(&one("assistant/chat.en.md", "{% if %}")).is_err());
}

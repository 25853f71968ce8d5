//! Parsing of responses as models write them.

use papertape_assistant::actions::{ACTIONS, action};
use papertape_assistant::parameters::ParamType;
use papertape_assistant::protocol::{MAX_ACTIONS, Reply, UNREADABLE, read, schema};
use papertape_core::language::Language;
use papertape_core::message::{ModelReply, ToolCall};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

fn of(text: &str) -> Reply {
    read(&ModelReply { text: text.to_owned(), ..ModelReply::default() })
}

fn faults(reply: &Reply) -> Vec<String> {
    reply
        .actions
        .iter()
        .filter_map(|asked| Some(asked.fault.as_ref()?.text(Language::En).to_owned()))
        .collect()
}

/// Goal: the object is found bare, fenced and surrounded by prose, and plain text is a message.
#[test]
fn the_answer_is_found_wherever_it_stands() {
    let object = json!({ "llm_reply": { "message": "Hello" }, "actions": [{ "kind": "system_operation", "name": "help", "parameters": {}, "order": 1 }] });
    let texts = [
        object.to_string(),
        format!("```json\n{object}\n```"),
        format!("Sure, here:\n```\n{object}\n```\nDone."),
        format!("I think {object} will do."),
    ];
    for text in texts {
        let reply = of(&text);
        assert_eq!((&*reply.message, reply.actions.len()), ("Hello", 1), "{text}");
        assert_eq!(reply.actions[0].name, "help");
    }
    let plain = of("The weather is {fine}.");
    assert_eq!((&*plain.message, plain.actions.len()), ("The weather is {fine}.", 0));
    let as_text = of(r#"{"llm_reply": "Hello", "actions": null}"#);
    assert_eq!((&*as_text.message, as_text.actions.len()), ("Hello", 0));
}

/// Goal: anything unreadable, unknown or malformed is returned as an action that says why.
#[test]
fn faults_are_kept_and_named() {
    let check = |actions: Value, told: &str| {
        let reply = of(&json!({ "actions": actions }).to_string());
        assert!(faults(&reply).iter().any(|fault| fault.contains(told)), "{told}: {:?}", faults(&reply));
        let both = reply.actions.iter().filter_map(|asked| asked.fault.as_ref());
        for fault in both {
            assert_eq!(
                Language::detect(fault.text(Language::Zh)),
                Language::Zh,
                "{told}: for those who read Chinese"
            );
            assert_eq!(Language::detect(fault.text(Language::En)), Language::En, "{told}");
        }
    };
    check(json!([{ "kind": "x", "name": "fly" }]), "unknown action `fly`");
    check(json!([{}]), "the action has no name");
    check(json!(["help"]), "an action must be an object");
    check(json!("help"), "`actions` must be a list");
    check(json!([{ "name": "create_plan" }]), "`name` is missing");
    check(json!([{ "name": "create_plan", "parameters": [] }]), "`parameters` must be an object");
    check(json!([{ "name": "create_plan", "parameters": { "name": " " } }]), "`name` is empty");
    check(
        json!([{ "name": "create_plan", "parameters": { "name": "a", "nmae": 1 } }]),
        "unknown parameter `nmae`",
    );
    check(
        json!([{ "name": "delete_plan", "parameters": { "plan_id": -1 } }]),
        "`plan_id` must be a whole number",
    );
    check(
        json!([{ "name": "delete_plan", "parameters": { "plan_id": 1.5 } }]),
        "`plan_id` must be a whole number",
    );
    check(
        json!([{ "name": "run_simulation", "parameters": { "end_date": "2012-13-01" } }]),
        "`end_date` must be a day",
    );
    check(
        json!([{ "name": "run_simulation", "parameters": { "end_date": "2012-10-01", "symbols": [1] } }]),
        "`symbols` must be a list of strings",
    );
    for (manner, told) in [
        (json!({ "blocking": "no" }), "`blocking` must be true or false"),
        (json!({ "blocking": 0 }), "`blocking` must be true or false"),
        (json!({ "order": "first" }), "`order` must be a number"),
        (json!({ "retry_policy": 2 }), "`retry_policy` must be an object"),
        (json!({ "retry_policy": { "max_retries": "twice" } }), "`retry_policy.max_retries` must be"),
        (json!({ "retry_policy": { "max_retries": -1 } }), "`retry_policy.max_retries` must be"),
        (json!({ "retry_policy": { "max_retries": 1.5 } }), "`retry_policy.max_retries` must be"),
        (json!({ "retry_policy": { "backoff_sec": "soon" } }), "`retry_policy.backoff_sec` must be"),
        (json!({ "retry_policy": { "backoff_sec": -1 } }), "`retry_policy.backoff_sec` must be"),
    ] {
        let mut action = json!({ "name": "help" });
        action.as_object_mut().expect("an object").extend(manner.as_object().expect("an object").clone());
        check(json!([action]), told);
    }
    let broken = of(r#"{"llm_reply": {"message": "a"}, "actions": [}"#);
    assert_eq!(broken.actions[0].name, UNREADABLE);
    let many: Vec<Value> = (0..=MAX_ACTIONS).map(|_| json!({ "name": "help" })).collect();
    check(json!(many), "at most 16 actions");
}

/// Goal: an action whose kind does not match its name is not executed, wherever the kind is given, and the error
/// names the right one; a missing kind is derived from the name.
#[test]
fn a_kind_must_fit_its_name() {
    let parameters = json!({ "end_date": "2012-10-02" });
    let check = |kind: Value, name: &str, expected: Option<&str>| {
        let action = json!({ "kind": kind, "name": name, "parameters": parameters });
        let reply = of(&json!({ "actions": [action] }).to_string());
        let (asked, told) = (&reply.actions[0], faults(&reply));
        assert_eq!(
            (&*asked.name, asked.kind.as_str()),
            ("run_simulation", "tool_operation"),
            "{kind} {name}"
        );
        match expected {
            Some(wrong) => {
                let sentence = format!("the kind of `run_simulation` is `tool_operation`, not `{wrong}`");
                assert!(told.iter().any(|fault| fault.starts_with(&sentence)), "{kind} {name}: {told:?}");
                let fault = asked.fault.as_ref().expect("a fault");
                assert_eq!(Language::detect(fault.text(Language::Zh)), Language::Zh);
            }
            None => assert_eq!(told, Vec::<String>::new(), "{kind} {name}"),
        }
    };
    check(json!("plan_operation"), "run_simulation", Some("plan_operation"));
    check(json!("PLAN"), "run_simulation", Some("PLAN"));
    check(json!(7), "run_simulation", Some("7"));
    check(json!("tool_operation"), "plan_operation/run_simulation", Some("plan_operation"));
    check(json!(null), "task_operation/run_simulation", Some("task_operation"));
    check(json!("tool_operation"), "run_simulation", None);
    check(json!("tool_operation"), "tool_operation/run_simulation", None);
    check(json!(null), "run_simulation", None);
    check(json!(" "), "run_simulation", None);
}

/// Goal: mistakes that are only formal are corrected.
#[test]
fn small_slips_are_forgiven() {
    let reply = of(&json!({ "actions": [
        { "kind": "plan_operation", "name": "plan_operation/create_plan", "arguments": { "name": 7, "goal": null }, "order": "2" },
        { "name": "run_simulation", "parameters": "{\"end_date\": \"2012-10-02\", \"symbols\": \"AAPL\", \"wait\": \"false\", \"seed\": \"5\"}", "order": 1,
          "blocking": false, "retry_policy": { "max_retries": 99, "backoff_sec": 1e12 } },
    ] }).to_string());
    assert_eq!(faults(&reply), Vec::<String>::new());
    let [run, plan] = &reply.actions[..] else { panic!("two: {reply:?}") };
    assert_eq!(
        Value::Object(run.parameters.clone()),
        json!({ "end_date": "2012-10-02", "symbols": ["AAPL"], "wait": false, "seed": 5 })
    );
    assert_eq!((run.blocking, run.retry.max_retries, run.retry.backoff), (false, 5, Duration::from_secs(60)));
    assert_eq!(Value::Object(plan.parameters.clone()), json!({ "name": "7" }));
    assert_eq!(plan.kind.as_str(), "plan_operation", "the table knows the kind");
}

/// Goal: execution options are read in any notation, `null` is ignored, and values above the limit are capped.
#[test]
fn the_manner_is_read_however_it_is_written() {
    let check = |manner: Value, expected: (bool, u32, f64)| {
        let mut action = json!({ "name": "help" });
        action.as_object_mut().expect("an object").extend(manner.as_object().expect("an object").clone());
        let reply = of(&json!({ "actions": [action] }).to_string());
        assert_eq!(faults(&reply), Vec::<String>::new(), "{manner}");
        let asked = &reply.actions[0];
        let read = (asked.blocking, asked.retry.max_retries, asked.retry.backoff.as_secs_f64());
        assert_eq!(read, expected, "{manner}");
    };
    check(json!({}), (true, 0, 1.0));
    check(json!({ "blocking": null, "order": null, "retry_policy": null }), (true, 0, 1.0));
    check(json!({ "blocking": "false" }), (false, 0, 1.0));
    check(json!({ "blocking": " True " }), (true, 0, 1.0));
    check(json!({ "retry_policy": { "max_retries": "2", "backoff_sec": "0.5" } }), (true, 2, 0.5));
    check(json!({ "retry_policy": { "max_retries": 2.0, "backoff_sec": 3 } }), (true, 2, 3.0));
    check(json!({ "retry_policy": { "max_retries": 99, "backoff_sec": 1e9 } }), (true, 5, 60.0));
    check(json!({ "retry_policy": "{\"max_retries\": 1}" }), (true, 1, 1.0));
}

/// Goal: native calls give execution options in reserved arguments, which their schemas offer and which are not
/// passed to the action.
#[test]
fn native_calls_say_how_they_are_to_be_done() {
    let call = |id: &str, name: &str, arguments: Value| ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments,
    };
    let reply = read(&ModelReply {
        tool_calls: vec![
            call("a", "help", json!({ "order": 2 })),
            call(
                "b",
                "job_status",
                json!({ "job_id": "latest", "order": 1, "blocking": false,
                    "retry_policy": { "max_retries": 3 } }),
            ),
            call("c", "help", json!({ "blocking": "perhaps" })),
        ],
        ..ModelReply::default()
    });
    let ids: Vec<&str> = reply.actions.iter().filter_map(|one| one.call_id.as_deref()).collect();
    assert_eq!(ids, ["b", "a", "c"]);
    let first = &reply.actions[0];
    assert_eq!((first.blocking, first.retry.max_retries), (false, 3));
    assert_eq!(Value::Object(first.parameters.clone()), json!({ "job_id": "latest" }));
    assert_eq!(faults(&reply), ["`blocking` must be true or false"]);
    for spec in ACTIONS {
        let schema = spec.call_schema();
        for name in ["order", "blocking", "retry_policy"] {
            assert!(schema["properties"][name].is_object(), "{}: {name}", spec.name);
            assert!(
                spec.parameters.iter().all(|parameter| parameter.name != name),
                "{} has its own",
                spec.name
            );
        }
        assert_eq!(schema["required"], spec.schema()["required"], "{}", spec.name);
    }
}

/// Goal: native calls are actions, text next to them is the message, and arguments that are not an object are
/// reported.
#[test]
fn native_calls_are_read() {
    let call = |id: &str, name: &str, arguments: Value| ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments,
    };
    let reply = read(&ModelReply {
        text: "I look.".to_owned(),
        tool_calls: vec![call("1", "help", json!({})), call("2", "list_plans", json!("{oops"))],
        ..ModelReply::default()
    });
    assert_eq!((&*reply.message, reply.actions.len()), ("I look.", 2));
    assert_eq!(reply.actions[0].call_id.as_deref(), Some("1"));
    assert!(faults(&reply)[0].contains("{oops"), "{:?}", faults(&reply));
}

/// Goal: the table has each action of the specification once, every schema can be sent, and the response schema
/// names them all.
#[test]
fn the_table_is_whole() {
    let names: BTreeSet<&str> = ACTIONS.iter().map(|spec| spec.name).collect();
    assert_eq!((names.len(), ACTIONS.len()), (27, 27));
    let by_kind = |kind: &str| ACTIONS.iter().filter(|spec| spec.kind.as_str() == kind).count();
    assert_eq!(
        ["plan_operation", "task_operation", "tool_operation", "context_request", "system_operation"]
            .map(by_kind),
        [4, 9, 12, 1, 1]
    );
    let allowed = schema()["properties"]["actions"]["items"]["properties"]["name"]["enum"].clone();
    for spec in ACTIONS {
        assert!(allowed.as_array().expect("names").contains(&spec.name.into()), "{}", spec.name);
        let schema = spec.schema();
        assert_eq!(schema["type"], "object");
        for parameter in spec.parameters {
            assert!(schema["properties"][parameter.name]["type"].is_string(), "{}", spec.name);
            assert!(!parameter.param_type.as_str().is_empty());
        }
    }
    let deleting: Vec<&str> = ACTIONS.iter().filter(|spec| spec.deletes).map(|spec| spec.name).collect();
    assert_eq!(deleting, ["delete_plan", "delete_task"]);
    let stopping: Vec<&str> = ACTIONS.iter().filter(|spec| spec.stops).map(|spec| spec.name).collect();
    assert_eq!(stopping, ["cancel_job"]);
    let end = action("run_simulation").expect("there").parameters.iter().find(|one| one.name == "end_date");
    assert_eq!(end.map(|one| (one.param_type, one.required)), Some((ParamType::Day, true)));
}

proptest! {
    /// Goal: no response makes parsing fail, and each action has either its parameters or a fault.
    #[test]
    fn any_answer_is_read(text in "\\PC{0,200}", name in "[a-z_]{0,12}", number in any::<i64>()) {
        let _ = of(&text);
        let _ = of(&format!("{{\"llm_reply\": {text}, \"actions\": []}}"));
        let reply = of(&json!({ "actions": [{ "name": name, "parameters": { "plan_id": number, "x": text } }] }).to_string());
        prop_assert_eq!(reply.actions.len(), 1);
        prop_assert!(reply.actions[0].fault.is_some());
    }
}

//! The assistant in a terminal.

use crate::cli_tool::Tool;
use std::io::Write as _;
use std::process::{Output, Stdio};

/// The output for piped lines.
fn piped(tool: &Tool, said: &[u8]) -> Output {
    let mut child = tool
        .command(&["chat", "--language", "en"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    child.stdin.take().expect("a pipe").write_all(said).expect("is read");
    child.wait_with_output().expect("ends")
}

/// Goal: one message is answered: the answer on stdout, actions on stderr, all of it as JSON on request.
#[test]
fn one_message_is_answered() {
    let tool = Tool::new();
    let done = tool.ok(&["chat", "list plans", "--language", "en"]);
    assert!(
        done.out.contains("0 plan(s)") && done.out.contains("Actions:\n1. plan_operation/list_plans"),
        "{done:#?}"
    );
    assert!(
        done.err.contains("✓ plan_operation/list_plans: 0 plan(s)") && !done.out.contains('✓'),
        "{done:#?}"
    );
    let answer = tool.json(&["chat", "新建计划 秋天：看 IBM", "--language", "zh"]);
    assert_eq!(answer["status"], "completed");
    assert_eq!(
        answer["message"]["metadata"]["actions_summary"][0]["display"],
        "plan_operation/create_plan → 成功"
    );
    let again = tool.ok(&["chat", "status of the plan", "--session", "latest"]);
    assert!(
        again.out.contains("plan 1 “秋天” is queued") && !again.out.contains("计划"),
        "the conversation keeps its plan; a message is answered in its language: {again:#?}"
    );
}

/// Goal: piped lines form one conversation, and its commands work.
#[test]
fn lines_are_a_conversation() {
    let tool = Tool::new();
    let said = "Create a plan Short: look at IBM\n\ndelete plan 1\nyes\n/new\nstatus of the plan\n/quit\nlist plans\n";
    let output = piped(&tool, said.as_bytes());
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(
        out.contains("Answer yes to confirm") && out.contains("plan 1 “Short” was deleted"),
        "{out}\n{err}"
    );
    assert!(out.contains("the conversation has no plan yet"), "a new one begins: {out}\n{err}");
    assert!(!out.contains("plan(s)"), "nothing is read behind /quit: {out}");
}

/// Goal: a line that is not valid text is reported; none is silently dropped.
#[test]
fn a_line_that_is_no_text_is_told() {
    let tool = Tool::new();
    let output = piped(&tool, b"list plans\nbad \xff\xfe\nhelp\n");
    assert_eq!(output.status.code(), Some(2), "{output:#?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("0 plan(s)"), "{output:#?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("what is said cannot be read"), "{output:#?}");
}

/// Goal: a conversation has no days: a replay of it does not report damage, and `latest` never means a
/// conversation where a backtest is expected.
#[test]
fn a_conversation_is_not_replayed() {
    let tool = Tool::new();
    let answer = tool.json(&["chat", "list plans", "--language", "en"]);
    let job = answer["job_id"].as_str().expect("a job");
    let refused = tool.ends(&["replay", job], 1);
    assert!(refused.err.contains("kind `chat_action` has no days to replay"), "{refused:#?}");
    tool.ok(&["run", "--model", "house::momentum", "--start", "2012-10-01", "--end", "2012-10-01"]);
    let later = tool.json(&["chat", "list plans", "--language", "en"]);
    let rows = tool.json(&["actions", "latest"]);
    assert_eq!(rows["job_id"], later["job_id"], "the newest of any kind: {rows:#}");
    tool.ok(&["replay", "latest"]);
}

/// Goal: an invalid request has the usual exit code, and a model that cannot be called is reported.
#[test]
fn refusals_have_their_codes() {
    let tool = Tool::new();
    let none = tool.ends(&["chat", "hello", "--session", "latest"], 4);
    assert!(none.err.contains("there are no conversations yet"), "{none:#?}");
    tool.ends(&["chat", "hello", "--session", "nobody"], 4);
    tool.ends(&["chat", "hello", "--plan", "7"], 4);
    tool.ends(&["chat", " "], 2);
    let dev = Tool::new()
        .configured("mode = 'dev'\n[chat]\nmodel = 'openai::gpt-5'")
        .with("OPENAI_API_KEY", "sk-0123456789abcdef");
    let refused = dev.ends(&["chat", "hello"], 1);
    assert!(refused.err.contains("dev mode runs only house models"), "{refused:#?}");
    let trades =
        tool.ends(&["run", "--model", "house::assistant", "--start", "2012-10-01", "--end", "2012-10-01"], 2);
    assert!(trades.err.contains("cannot trade"), "{trades:#?}");
}

/// Goal: `resume` resumes a failed answer like a backtest, and reports the result.
#[test]
fn an_answer_is_resumed() {
    let nobody = "http://127.0.0.1:9/";
    let tool = Tool::new()
        .configured(&format!(
            "[chat]\nmodel = 'nobody::m'\n\
             [models.providers.nobody]\nkind = 'openai'\nbase_url = '{nobody}'\napi_key_env = 'NOBODY_API_KEY'"
        ))
        .with("NOBODY_API_KEY", "sk-0123456789abcdef");
    let answer = tool.ends(&["chat", "list plans", "--json"], 1);
    let answer: serde_json::Value = serde_json::from_str(&answer.out).expect("JSON");
    let job = answer["job_id"].as_str().expect("a job");
    let again = tool.ends(&["resume", job, "--json"], 1);
    let again: serde_json::Value = serde_json::from_str(&again.out).expect("JSON");
    assert_eq!((&again["job_id"], &again["status"]), (&answer["job_id"], &"failed".into()));
    assert_eq!(again["session_id"], answer["session_id"]);
}

/// Goal: if a server owns the database, the server answers.
#[test]
fn a_server_answers() {
    let tool = Tool::new();
    let mut server = tool.start(&["serve"]);
    server.first_line();
    let done = tool.ok(&["chat", "list plans", "--language", "en"]);
    assert!(done.out.contains("0 plan(s)") && done.err.contains("✓ plan_operation/list_plans"), "{done:#?}");
    server.signal(rustix::process::Signal::TERM);
    assert_eq!(server.end().code, 0);
}

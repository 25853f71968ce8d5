//! The reader closes the pipe: `| head`.

use crate::cli_tool::{SHORT, Tool};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

#[test]
fn a_closed_stdout_is_neither_a_failure_nor_a_panic() {
    let tool = Tool::new();
    tool.ok(&SHORT);
    let commands: [&[&str]; 6] = [
        &["export", "canonical", "latest"],
        &["reasoning", "latest", "--full"],
        &["results", "--json"],
        &["config", "keys"],
        &["completions", "bash"],
        &["verify", "latest"],
    ];
    for args in commands {
        let mut command = tool.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        let mut out = BufReader::with_capacity(16, child.stdout.take().expect("is piped"));
        out.read_line(&mut line).expect("stdout is text");
        drop(out);
        let mut err = String::new();
        child.stderr.take().expect("is piped").read_to_string(&mut err).expect("stderr is text");
        let code = child.wait().expect("it ends").code();
        assert_eq!(code, Some(0), "{args:?}: {err}");
        assert!(!err.contains("panicked"), "{args:?}: {err}");
    }
}

#[test]
fn a_run_with_an_unread_stderr_completes() {
    let tool = Tool::new();
    let mut child =
        tool.command(&SHORT).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    drop(child.stderr.take());
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_eq!(tool.json(&["jobs", "latest"])["status"], "completed");
}

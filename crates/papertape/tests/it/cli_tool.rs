//! Runs the real binary in its own directory, isolated from the environment of the test runner.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// A run over three days, which takes only a moment.
pub(crate) const SHORT: [&str; 10] = [
    "run",
    "--start",
    "2012-10-01",
    "--end",
    "2012-10-03",
    "--symbols",
    "AAPL,IBM",
    "--model",
    "house::momentum",
    "--no-summaries",
];

/// A working directory, with a data directory once a command creates it.
pub(crate) struct Tool {
    dir: TempDir,
    variables: Vec<(String, String)>,
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Tool {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("makes a directory"), variables: Vec::new() }
    }

    /// Sets an environment variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a config file.
    pub(crate) fn configured(self, toml: &str) -> Self {
        std::fs::write(self.path("papertape.toml"), toml).expect("writes");
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_papertape"));
        command.args(args).current_dir(self.dir.path()).env_clear().stdin(Stdio::null());
        // Expected values assume fills without costs, except in tests about costs.
        command.env("PAPERTAPE_SIMULATION__COSTS", "frictionless");
        command.env("PAPERTAPE_DATA_DIR", "data").env("PAPERTAPE_LISTEN", "127.0.0.1:0");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        let output = self.command(args).output().expect("the binary runs");
        Done {
            code: output.status.code().expect("it exits by itself"),
            out: String::from_utf8(output.stdout).expect("stdout is text"),
            err: String::from_utf8(output.stderr).expect("stderr is text"),
        }
    }

    /// Runs the command and expects success.
    pub(crate) fn ok(&self, args: &[&str]) -> Done {
        self.ends(args, 0)
    }

    /// Runs the command and expects this exit code.
    pub(crate) fn ends(&self, args: &[&str], code: i32) -> Done {
        let done = self.run(args);
        assert_eq!(done.code, code, "papertape {}: {done:#?}", args.join(" "));
        done
    }

    /// Runs the command with `--json` and expects success and one JSON value.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let done = self.ok(&args);
        serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:#?}"))
    }

    /// The job ID that a run prints.
    pub(crate) fn job(&self, args: &[&str]) -> String {
        self.json(args)["job_id"].as_str().expect("has an id").to_owned()
    }

    /// Starts a command in the background.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        let mut command = self.command(args);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let stderr = BufReader::new(child.stderr.take().expect("is piped"));
        let stdout = BufReader::new(child.stdout.take().expect("is piped"));
        Running { child, stdout, stderr, said: String::new() }
    }
}

/// A running command.
pub(crate) struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
    said: String,
}

impl Running {
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process has an id");
        kill_process(pid, signal).expect("it is there");
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until stderr contains this text, and returns the line.
    pub(crate) fn until(&mut self, text: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.stderr.read_line(&mut line).expect("stderr is text");
            assert!(read > 0, "it ended without saying `{text}`: {}", self.said);
            self.said.push_str(&line);
            if line.contains(text) {
                return line;
            }
        }
    }

    /// The next line of stdout, where a server prints its address.
    pub(crate) fn first_line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("stdout is text");
        line
    }

    /// Waits until it ends.
    pub(crate) fn end(mut self) -> Done {
        let mut out = String::new();
        self.stdout.read_to_string(&mut out).expect("stdout is text");
        self.stderr.read_to_string(&mut self.said).expect("stderr is text");
        let code = self.child.wait().expect("it ends").code();
        Done { code: code.expect("it exits by itself"), out, err: std::mem::take(&mut self.said) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Still running if the test failed; otherwise it has exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! The sandbox of an external agent.

use crate::external_support::{Agents, program};
use papertape_core::external::{AgentRequest, ExternalAgents as _, SessionEnding};
use papertape_core::time::Date;
use papertape_integrations::external_agents::ConfiguredAgents;
use papertape_service::config::ExternalAgent;
use papertape_service::integrations::AgentSetup;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

const DAY: Date = jiff::civil::date(2025, 3, 3);
const PROBE: &str = include_str!("fixtures/sandbox_probe.py");

/// A Python that a sandbox shows without further settings.
fn system_python() -> Option<String> {
    let found =
        ["/usr/bin/python3", "/usr/local/bin/python3"].into_iter().find(|path| Path::new(path).exists());
    found.map(str::to_owned)
}

fn python_agent(python: &str) -> ExternalAgent {
    ExternalAgent { command: vec![python.to_owned()], ..ExternalAgent::default() }
}

/// The agents, or `None` where this machine allows no sandbox: then the error has been checked.
async fn sandboxed(agent: ExternalAgent) -> Option<Agents> {
    let agents = Agents::new(ExternalAgent { sandbox: true, ..agent }).await;
    let Err(error) = agents.agents.facts("mine") else { return Some(agents) };
    assert!(!error.contains("was not found"), "{error}; run scripts/install-test-tools.sh");
    assert!(error.contains("this machine allows no sandbox") && error.contains("user namespaces"), "{error}");
    eprintln!("the sandbox was NOT tested: {error}");
    None
}

/// Processes that this test's probe left behind on this machine.
fn left_behind() -> usize {
    let argument = format!("86399.{}", std::process::id());
    let entries = std::fs::read_dir("/proc").expect("/proc is there").flatten();
    let command = |path: std::path::PathBuf| std::fs::read(path.join("cmdline")).unwrap_or_default();
    entries.filter(|entry| String::from_utf8_lossy(&command(entry.path())).contains(&argument)).count()
}

/// Goal: a program in a sandbox reaches its session's door and two writable folders, and nothing else: no network, no
/// other file, none of our data, no other process. What it leaves behind ends with it.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_gets_out() {
    nothing_gets_out_of(env!("CARGO_TARGET_TMPDIR")).await;
}

/// Goal: a program whose folder lies in `/tmp` still has a `/tmp` of its own to write to.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_gets_out_of_a_folder_in_tmp() {
    nothing_gets_out_of("/tmp").await;
}

async fn nothing_gets_out_of(parent: &str) {
    let Some(python) = system_python() else { panic!("python3 is not in /usr") };
    let outside = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let cwd = tempfile::tempdir_in(parent).expect("a directory");
    std::fs::write(cwd.path().join("probe.py"), PROBE).expect("writes");
    let Some(mut agents) = sandboxed(python_agent(&python)).await else { return };
    // The data directory lies in the folder that the sandbox shows, as it does by default.
    let data = cwd.path().join("data");
    std::fs::create_dir(&data).expect("a directory");
    std::fs::write(data.join("papertape.db"), "SQLite").expect("writes");
    let config = cwd.path().join("papertape.toml");
    std::fs::write(&config, "[auth]\n").expect("writes");
    let home = std::env::var("HOME").expect("there is a home");
    let text = |path: &Path| path.display().to_string();
    let address = outside.local_addr().expect("it is bound").to_string();
    let pid = std::process::id().to_string();
    let (data_text, config_text) = (text(&data), text(&config));
    let command: [&str; 7] = [&python, "probe.py", &address, &pid, &data_text, &config_text, &home];
    let command = command.map(str::to_owned);
    let agent = ExternalAgent {
        command: command.to_vec(),
        cwd: Some(cwd.path().to_owned()),
        sandbox: true,
        ..ExternalAgent::default()
    };
    let mut setup = AgentSetup::new(&agents.app.config, Arc::clone(&agents.app.doors), Arc::default());
    setup.agents.insert("mine".to_owned(), agent);
    setup.hidden = vec![data, config];
    agents.agents =
        ConfiguredAgents::new(setup).with_sandbox_programs("bwrap", env!("CARGO_BIN_EXE_papertape"));
    agents.app.open_doors().await.expect("they open");

    let mut session = agents.start("job", DAY).await.expect("it starts");
    let read = session.answer(json!({ "cash": 7 })).await;
    assert_eq!(read, AgentRequest::Read { tool: "get_portfolio".to_owned(), arguments: json!({}) });
    let (decision, _) = session.play().await;
    let found: Value = serde_json::from_str(&decision.expect("a decision")).expect("JSON");
    let failed = "failed: OSError";
    let expected = json!({
        "work before": "[]",
        "network": "failed: ConnectionRefusedError",
        "name": "failed: gaierror",
        "etc": failed, "usr": failed, "root": failed, "run": failed, "dev": failed, "cwd": failed,
        "program": "read",
        "home": "failed: FileNotFoundError",
        "home listed": "failed: FileNotFoundError",
        "data": "[]",
        "database": "failed: FileNotFoundError",
        "data written": failed,
        "config": "0",
        "shadow": "failed: FileNotFoundError",
        "processes": "True",
        "kill": "failed: ProcessLookupError",
        "ptrace": "failed: No such process",
        "environ": "False",
        "capabilities": "0000000000000000",
        "mount": "True",
        "work": "written",
        "tmp": "written",
        "work after": "['mine']",
        "home variable": "/papertape",
        "door": "{'cash': 7}",
    });
    assert_eq!(found, expected);
    assert!(left_behind() > 0, "the process that it leaves behind is found from outside");
    session.end(SessionEnding::Stopped).await;
    // The kernel ends the processes of the sandbox after its first one.
    while left_behind() > 0 {
        tokio::task::yield_now().await;
    }
}

/// Goal: a sandbox that cannot be made is an error that says what to install or to change, and the program is never
/// started without one.
#[tokio::test]
async fn a_missing_sandbox_is_an_error() {
    let mut agents = Agents::new(ExternalAgent { sandbox: true, ..program("days", None) }).await;
    let own = env!("CARGO_BIN_EXE_papertape");
    let setup = || AgentSetup::new(&agents.app.config, Arc::clone(&agents.app.doors), Arc::default());
    let missing = ConfiguredAgents::new(setup()).with_sandbox_programs("papertape-no-bwrap", own);
    let error = missing.facts("mine").expect_err("there is no bwrap");
    assert!(
        error.contains("was not found: install bubblewrap (Debian, Ubuntu: `apt install bubblewrap`"),
        "{error}"
    );
    let refusing = ConfiguredAgents::new(setup()).with_sandbox_programs("false", own);
    let error = refusing.facts("mine").expect_err("it makes no sandbox");
    assert!(error.contains("this machine allows no sandbox") && error.contains("user namespaces"), "{error}");
    agents.agents = refusing;
    let failure = agents.start("job", DAY).await.err().expect("it does not start");
    assert!(failure.message.contains("allows no sandbox"), "{failure}");
}

/// Goal: a sandbox does not show our data because a config asks for it, and says so when its program is not visible.
#[tokio::test]
async fn a_sandbox_shows_no_data() {
    let Some(python) = system_python() else { panic!("python3 is not in /usr") };
    let Some(mut agents) = sandboxed(python_agent(&python)).await else { return };
    let data = agents.app.config.data_dir.clone();
    let cases = [
        (ExternalAgent { cwd: Some(data.clone()), ..python_agent(&python) }, "holds Papertape's own data"),
        (
            ExternalAgent { sandbox_paths: vec!["/".into()], ..python_agent(&python) },
            "cannot show the root folder",
        ),
        (
            ExternalAgent {
                command: vec![env!("CARGO_BIN_EXE_papertape").to_owned()],
                ..ExternalAgent::default()
            },
            "is not visible in the sandbox: add its folder to `sandbox_paths`",
        ),
    ];
    for (agent, reason) in cases {
        let mut setup = AgentSetup::new(&agents.app.config, Arc::clone(&agents.app.doors), Arc::default());
        setup.agents.insert("mine".to_owned(), ExternalAgent { sandbox: true, ..agent });
        agents.agents =
            ConfiguredAgents::new(setup).with_sandbox_programs("bwrap", env!("CARGO_BIN_EXE_papertape"));
        let failure = agents.start("job", DAY).await.err().expect("it does not start");
        assert!(failure.message.contains(reason), "{failure}");
    }
}

//! Dev mode: disposable data, separate from production data.

use crate::cli_tool::{SHORT, Tool};
use rustix::process::Signal;

/// Starts and stops a server.
fn serve_once(tool: &Tool) -> String {
    let mut serving = tool.start(&["serve"]);
    serving.first_line();
    serving.signal(Signal::TERM);
    let ended = serving.end();
    assert_eq!(ended.code, 0, "{ended:#?}");
    ended.err
}

#[test]
fn dev_data_is_separate_and_wiped_at_server_startup_unless_preserved() {
    let tool = Tool::new();
    tool.ok(&SHORT);
    let tool = tool.with("PAPERTAPE_MODE", "dev");
    tool.ok(&SHORT);
    // A run wipes nothing.
    tool.ok(&SHORT);
    let jobs = tool.json(&["jobs"]);
    assert_eq!((&jobs["count"], &jobs["is_dev_mode"]), (&2.into(), &true.into()));

    let tool = tool.with("PAPERTAPE_PRESERVE_DEV_DATA", "true");
    assert!(serve_once(&tool).contains("mode dev (house models only, data preserved)"));
    assert_eq!(tool.json(&["jobs"])["count"], 2);
    let tool = tool.with("PAPERTAPE_PRESERVE_DEV_DATA", "false");
    assert!(serve_once(&tool).contains("mode dev (house models only, data wiped at startup)"));
    assert_eq!(tool.json(&["jobs"])["count"], 0);

    let tool = tool.with("PAPERTAPE_MODE", "prod");
    assert_eq!(tool.json(&["jobs"])["count"], 1);
}

#[test]
fn dev_mode_does_not_touch_a_database_it_did_not_create() {
    let tool = Tool::new();
    tool.ok(&SHORT);
    std::fs::copy(tool.path("data/papertape.db"), tool.path("data/papertape-dev.db")).expect("copies");
    let tool = tool.with("PAPERTAPE_MODE", "dev");
    for args in [&["serve"][..], &SHORT[..]] {
        let refused = tool.ends(args, 1);
        assert!(refused.err.contains("was not created by dev mode"), "{refused:#?}");
    }
    assert_eq!(tool.json(&["jobs"])["count"], 1);
}

#[test]
fn dev_mode_runs_only_house_models() {
    let tool = Tool::new().with("PAPERTAPE_MODE", "dev").with("OPENAI_API_KEY", "sk-test-0123456789abcdef01");
    let real = ["run", "--start", "2012-10-01", "--end", "2012-10-02", "--model", "openai::gpt-5"];
    let refused = tool.ends(&real, 2);
    assert!(
        refused.err.contains("only house models") || refused.err.contains("root certificates"),
        "{refused:#?}"
    );
}

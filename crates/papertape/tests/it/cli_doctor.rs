//! The doctor: finds what is broken, and changes nothing.

use crate::cli_tool::{SHORT, Tool};
use serde_json::Value;

fn states(findings: &Value, what: &str) -> Vec<String> {
    let of = |finding: &&Value| finding["what"] == what;
    let found = findings["findings"].as_array().expect("has findings").iter().filter(of);
    found.map(|finding| finding["state"].as_str().expect("has a state").to_owned()).collect()
}

/// The table's row of a check.
fn row<'a>(table: &'a str, what: &str) -> Option<&'a str> {
    table.lines().find(|line| line.split_whitespace().any(|word| word == what))
}

#[test]
fn an_empty_directory_is_well_and_stays_empty() {
    let tool = Tool::new();
    let done = tool.ok(&["doctor"]);
    assert!(row(&done.out, "data").is_some_and(|row| row.contains("✓ ok")), "{done:#?}");
    assert!(done.out.contains("data is not there yet; the first run makes it"), "{done:#?}");
    assert!(!done.out.contains('✗'), "{done:#?}");
    assert_eq!(std::fs::read_dir(tool.path("")).expect("reads").count(), 0);
    std::fs::create_dir(tool.path("data")).expect("makes it");
    tool.ok(&["doctor"]);
    assert_eq!(std::fs::read_dir(tool.path("data")).expect("reads").count(), 0);
}

#[test]
fn a_used_directory_is_well() {
    let tool = Tool::new();
    tool.ok(&SHORT);
    let done = tool.ok(&["doctor"]);
    assert!(done.out.contains("1 jobs, 3 sessions"), "{done:#?}");
    let found = tool.json(&["doctor"]);
    assert_eq!((&found["ok"], states(&found, "data")), (&true.into(), vec!["ok".to_owned()]));
}

#[test]
fn what_is_broken_is_found_with_exit_code_1() {
    let check = |tool: &Tool, what: &str| {
        let done = tool.ends(&["doctor"], 1);
        let broken = done.out.lines().any(|line| line.contains("✗ broken") && line.contains(what));
        assert!(broken, "{what}: {done:#?}");
        assert!(!done.err.contains("panicked"), "{done:#?}");
        let done = tool.ends(&["--json", "doctor"], 1);
        let found: Value = serde_json::from_str(&done.out).expect("stdout is JSON");
        assert!(states(&found, what).contains(&"broken".to_owned()), "{done:#?}");
    };
    let tool = Tool::new();
    std::fs::write(tool.path("data"), "a file").expect("writes");
    check(&tool, "data");

    let tool = Tool::new();
    std::fs::create_dir(tool.path("data")).expect("makes it");
    std::fs::write(tool.path("data/papertape.db"), "no database, whatever its name says").expect("writes");
    check(&tool, "database");

    // As a full disk or a broken copy leaves it.
    let tool = Tool::new();
    tool.ok(&SHORT);
    std::fs::write(tool.path("data/papertape.db"), "").expect("writes");
    check(&tool, "database");

    let tool = Tool::new();
    let rows = "symbol,date,open,high,low,close,volume\nXYZ,2024-01-02,10,11,9,10.5,100\n";
    std::fs::write(tool.path("bars.csv"), rows).expect("writes");
    tool.ok(&["data", "import", "bars.csv", "--name", "tiny", "--zone", "America/New_York"]);
    let content = tool.path("data/datasets/content");
    let dataset = std::fs::read_dir(content).expect("reads").next().expect("one dataset").expect("an entry");
    let data = dataset.path().join("data");
    let mut bytes = std::fs::read(&data).expect("reads");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&data, bytes).expect("writes");
    check(&tool, "dataset");

    check(&Tool::new().configured("[simulation]\ndataset = 'none'"), "dataset");
    check(&Tool::new().configured("[prompts]\ndir = 'nowhere'"), "prompts");
    check(&Tool::new().configured("[models]\nprices = 'nowhere.toml'"), "models");
    check(&Tool::new().configured("[[agents]]\nname = 'a'\nmodel = 'openai::gpt-5'"), "agent");
    check(&Tool::new().with("PAPERTAPE_DATABASE_URL", "postgres://127.0.0.1:1/none"), "database");
}

#[test]
fn keys_are_looked_for_and_never_shown() {
    let tool = Tool::new().with("OPENAI_API_KEY", "sk-test-0123456789abcdef0123456789");
    let done = tool.ok(&["doctor"]);
    let provider = row(&done.out, "provider").expect("a row of providers");
    assert!(provider.contains("openai can be called") || provider.contains("no key for"), "{done:#?}");
    assert!(!done.out.contains("0123456789abcdef") && !done.err.contains("0123456789abcdef"), "{done:#?}");
}

// Goal: a replaced prompt that asks for what is not there is found by the doctor and at every start, with its
// folder, file and line; the assistant's prompts are looked at as well, and good ones are fine.
#[test]
fn a_wrong_prompt_is_found_before_anything_is_run() {
    let tool = Tool::new().configured("[prompts]\ndir = 'own'");
    let own = tool.path("own");
    std::fs::create_dir_all(own.join("assistant")).expect("makes it");
    std::fs::write(own.join("solo-day.en.md"), "Go, {{ date }}!").expect("writes");
    std::fs::write(own.join("assistant/task.en.md"), "Do it.").expect("writes");
    assert!(tool.ok(&["doctor"]).out.contains("2 own in own"));
    for (file, text, wanted) in [
        ("solo-day.en.md", "One.\nTwo {{ dte }}", "prompt `solo-day.en.md`: line 2: `dte` is not a value"),
        (
            "assistant/task.en.md",
            "{{ moon }}",
            "prompt `assistant/task.en.md`: line 1: `moon` is not a value",
        ),
    ] {
        let good = std::fs::read_to_string(own.join(file)).expect("reads");
        std::fs::write(own.join(file), text).expect("writes");
        let done = tool.ends(&["doctor"], 1);
        assert!(
            row(&done.out, "prompts").is_some_and(|row| row.contains("✗ broken"))
                && done.out.contains(wanted)
                && done.out.contains("own"),
            "{done:#?}"
        );
        let done = tool.run(&SHORT);
        assert!(done.code != 0 && done.err.contains(wanted) && done.err.contains("own"), "{done:#?}");
        std::fs::write(own.join(file), good).expect("writes");
    }
    tool.ok(&["doctor"]);
}

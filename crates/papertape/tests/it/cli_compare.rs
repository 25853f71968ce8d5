//! `papertape compare`: the table, the words below it, JSON and usage errors.

use crate::cli_tool::{SHORT, Tool};
use serde_json::Value;

// Goal: the command prints each item with its number of days, each pair with its verdict and reason, and the family; JSON has the
// same; short IDs are found, and what cannot be compared is a usage error that says what to do.
#[test]
fn runs_are_compared_on_the_command_line() {
    let tool = Tool::new();
    let job = tool.job(&SHORT);
    let done = tool.ok(&["compare", "latest", "baseline:buy_and_hold", "--net-of-model-cost"]);
    let text = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "house::momentum vs buy and hold",
        "too few days",
        "3 shared days; a verdict needs 60",
        "an interval needs 20 days",
        "net of model cost",
        "Family: all pairs, 1 test, adjusted by Holm at 0.05; not declared before the runs.",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let short = &job[job.len() - 8..];
    let json = tool.json(&["compare", &format!("{short}/house::momentum"), "baseline:buy_and_hold"]);
    assert_eq!(json["items"][0]["id"], format!("job:{job}/house::momentum"));
    assert_eq!(json["pairs"][0]["verdict"], "too_few_days");
    assert_eq!(json["pairs"][0]["holm_p"], Value::Null);
    let one = tool.ends(&["compare", "latest"], 2).err;
    assert!(one.contains("select at least two items"), "{one}");
    tool.ends(&["compare"], 2);
    let unknown = tool.ends(&["compare", "latest", "baseline:luck"], 2).err;
    assert!(
        unknown.contains("unknown baseline `luck`; expected buy_and_hold, equal_weight or random"),
        "{unknown}"
    );
    tool.ends(&["compare", "01999999", "latest"], 4);
}

// Goal: a branch next to its parent: where they part, the orders that differ, and the difference from the cut on.
#[test]
fn a_branch_is_compared_with_its_parent() {
    let tool = Tool::new();
    let parent = tool.job(&SHORT);
    let branch = tool.job(&["branch", &parent, "--date", "2012-10-02", "--model", "house::buy_and_hold"]);
    let done = tool.ok(&["compare", &branch, &parent]);
    let text = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&format!("branch of {parent}, house::momentum on 2012-10-02")), "{text}");
    let json = tool.json(&["compare", &branch, &parent]);
    let found = &json["branch"];
    assert_eq!(found["parent"], parent);
    assert_eq!(found["branch"], branch);
    assert_eq!(found["days"], 2);
    let step = &found["first_difference"];
    assert_eq!(step["date"], "2012-10-02");
    assert!(step["diff"].as_array().is_some_and(|lines| !lines.is_empty()), "{step}");
    assert_eq!(found["difference"]["days"], 2);
    assert!(found["difference"]["per_year"].is_null(), "two days");
}

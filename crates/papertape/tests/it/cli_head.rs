//! `papertape head` and `verify --expect`: a published head matches the job as it was and a job that has
//! grown since, and no other.

use crate::cli_tool::{SHORT, Tool};
use serde_json::Value;

#[test]
fn a_published_head_is_held_against_the_record() {
    let tool = Tool::new();
    let job = tool.job(&SHORT);
    let printed = tool.json(&["head", &job]);
    let hash = printed["hash"].as_str().expect("a hash").to_owned();
    assert_eq!(printed["document"]["job"], job.as_str());
    assert_eq!(printed["document"]["agents"]["house::momentum"]["days"], 3);
    let details = tool.json(&["jobs", &job]);
    assert_eq!(details["rules_version"], printed["document"]["rules_version"]);

    // By its hash, by the document, and by the output of `--json`.
    let plain = tool.ok(&["head", &job]);
    assert!(plain.err.contains(&hash), "{plain:?}");
    std::fs::write(tool.path("head.json"), &plain.out).expect("writes");
    std::fs::write(tool.path("printed.json"), printed.to_string()).expect("writes");
    for expected in [hash.as_str(), "head.json", "printed.json"] {
        let done = tool.ok(&["verify", &job, "--expect", expected]);
        assert!(done.err.contains("the record is the published head"), "{done:?}");
    }

    // Another job's head, one that was never printed, and something that is not a head.
    let other =
        tool.job(&["run", "--start", "2012-10-01", "--end", "2012-10-02", "--model", "house::contrarian"]);
    let done = tool.ends(&["verify", &other, "--expect", "head.json"], 1);
    assert!(done.err.contains("the published head belongs to job"), "{done:?}");
    let done = tool.ends(&["verify", &job, "--expect", &"0".repeat(64)], 1);
    assert!(done.err.contains("does not hold that head's document"), "{done:?}");
    tool.ends(&["verify", &job, "--expect", "papertape.nothing"], 1);
    let mut forged: Value = printed["document"].clone();
    forged["anchor"] = "0".repeat(64).into();
    std::fs::write(tool.path("forged.json"), forged.to_string()).expect("writes");
    let done = tool.ends(&["verify", &job, "--expect", "forged.json"], 1);
    assert!(done.err.contains("the job's config has changed"), "{done:?}");
}

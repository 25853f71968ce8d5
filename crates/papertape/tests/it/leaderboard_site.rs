//! `papertape leaderboard` and the static site that it builds from real bundles.

use crate::cli_tool::{SHORT, Tool};
use serde_json::{Value, json};
use std::fs;

/// Seventy days of three rules.
const LONG: [&str; 14] = [
    "run",
    "--start",
    "2012-01-03",
    "--end",
    "2012-04-13",
    "--symbols",
    "IBM",
    "--model",
    "house::momentum",
    "--model",
    "house::contrarian",
    "--model",
    "house::buy_and_hold",
    "--no-summaries",
];

#[track_caller]
fn entry<'a>(board: &'a Value, label: &str) -> &'a Value {
    let entries = board["entries"].as_array().expect("entries");
    entries.iter().find(|entry| entry["label"] == label).unwrap_or_else(|| panic!("no {label}: {board}"))
}

// Goal: the command prints boards with ranks and marks, and JSON like the API's; an empty database has none; a board that does not
// exist exits with 4.
#[test]
fn boards_are_printed() {
    let tool = Tool::new();
    tool.job(&SHORT);
    let done = tool.ok(&["leaderboard"]);
    let text = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "board b",
        "us-daily-2000-2013",
        "house::momentum",
        "rules, not an LLM",
        "too few days",
        "buy and hold",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let found = tool.json(&["leaderboard"]);
    assert_eq!((&found["total"], &found["boards"][0]["ranked"]), (&json!(1), &json!(0)));
    let id = found["boards"][0]["board_id"].as_str().expect("an ID");
    assert_eq!(tool.json(&["leaderboard", "--board", id])["boards"][0]["board_id"], id);
    assert_eq!(tool.json(&["leaderboard", "--summary"])["boards"][0]["entries"], Value::Null);
    tool.ends(&["leaderboard", "--board", "b0"], 4);
    tool.ends(&["leaderboard", "--limit", "0"], 2);
    tool.ends(&["leaderboard", "--board", "b0", "build", ".", "--out", "site"], 2);
}

// Goal: the site has the boards of the bundles that verify, as the database ranks them, names the damaged one with its reason and
// exits with 1; its pages load nothing, link only to each other, and state every hash; it needs no database.
#[test]
fn a_site_is_built_from_verified_bundles() {
    let tool = Tool::new();
    let long = tool.job(&LONG);
    let short = tool.job(&SHORT);
    fs::create_dir(tool.path("bundles")).expect("a directory");
    for (job, file) in
        [(&long, "bundles/long.zip"), (&short, "bundles/short.zip"), (&long, "bundles/twice.zip")]
    {
        tool.ok(&["bundle", job, "--output", file, "--no-audit"]);
    }
    let recorded = tool.json(&["leaderboard"]);

    let elsewhere = Tool::new().configured("this is = not [a config");
    fs::create_dir(elsewhere.path("in")).expect("a directory");
    for file in ["long.zip", "short.zip", "twice.zip"] {
        fs::copy(tool.path("bundles").join(file), elsewhere.path("in").join(file)).expect("copies");
    }
    elsewhere.ok(&["leaderboard", "build", "in", "--out", "whole", "--language", "en"]);
    let mut bytes = fs::read(elsewhere.path("in/short.zip")).expect("reads");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(elsewhere.path("in/damaged.zip"), &bytes).expect("writes");
    fs::write(elsewhere.path("in/text.zip"), "hello").expect("writes");
    fs::write(elsewhere.path("in/notes.txt"), "not a bundle").expect("writes");
    let build = ["leaderboard", "build", "in", "--out", "site", "--language", "en"];
    let done = elsewhere.ends(&build, 1);
    assert!(done.out.contains("damaged.zip") && done.out.contains("NOT INCLUDED"), "{done:?}");
    assert!(done.err.contains("2 bundles not included"), "{done:?}");
    assert!(!elsewhere.path("data").exists(), "nothing was opened");

    let site = |name: &str| fs::read_to_string(elsewhere.path("site").join(name)).expect(name);
    let found: Value = serde_json::from_str(&site("leaderboard.json")).expect("JSON");
    assert_eq!(found["format"], "papertape.leaderboard.v1");
    let included = |file: &str| {
        let bundles = found["bundles"].as_array().expect("bundles");
        bundles.iter().find(|bundle| bundle["file"] == file).expect(file).clone()
    };
    for file in ["long.zip", "short.zip", "twice.zip"] {
        assert_eq!(included(file)["is_included"], true, "{file}");
    }
    for file in ["damaged.zip", "text.zip"] {
        assert_eq!(included(file)["is_included"], false, "{file}");
        assert!(!included(file)["reasons"].as_array().expect("reasons").is_empty(), "{file}");
    }
    // The boards are those of the database: the same method over the same values.
    let boards = found["boards"].as_array().expect("boards");
    assert_eq!(boards.len(), 2, "{found}");
    for board in boards {
        let of_database = recorded["boards"].as_array().expect("boards").iter();
        let same =
            of_database.clone().find(|one| one["board_id"] == board["board_id"]).expect("the same board");
        assert_eq!((&board["runs"], &board["ranked"]), (&same["runs"], &same["ranked"]), "a job counts once");
        for one in same["entries"].as_array().expect("entries") {
            assert_eq!(entry(board, one["label"].as_str().expect("a label")), one);
        }
    }

    let index = site("index.html");
    let head = included("long.zip")["jobs"][0]["head"].as_str().expect("a head").to_owned();
    for file in ["long.zip", "short.zip", "damaged.zip", "text.zip"] {
        let sha256 = included(file)["sha256"].as_str().expect("a hash").to_owned();
        assert!(index.contains(file) && index.contains(&sha256), "{file}");
    }
    assert!(index.contains(&head) && index.contains("not included"), "{index}");
    let mut pages = 0;
    for file in fs::read_dir(elsewhere.path("site")).expect("a directory") {
        let name = file.expect("a file").file_name().into_string().expect("text");
        if !name.ends_with(".html") {
            continue;
        }
        pages += 1;
        let page = site(&name);
        assert!(page.contains("name=\"viewport\"") && page.contains("default-src &#39;none&#39;"), "{name}");
        for wrong in ["<script", "src=", "http://", "https://", "url("] {
            assert!(!page.contains(wrong) || name.starts_with("run-"), "{name}: {wrong}");
        }
        for link in page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(elsewhere.path("site").join(link).is_file(), "{name}: {link}");
        }
    }
    assert_eq!(pages, 1 + 2 + 2, "an index, two boards, two runs");
    let report = site(&format!("run-{long}.html"));
    assert!(
        report.contains("Backtest report") && report.contains("house::contrarian"),
        "the report of the run"
    );
    assert!(report.contains("Costs and fills") && !report.contains("1970"), "from the bundle");

    // The same files give the same bytes, and only a site is replaced.
    let before = site("index.html");
    let again = elsewhere.ends(&build, 1);
    assert!(again.err.contains("--replace"), "{again:?}");
    let replaced: Vec<&str> = build.iter().copied().chain(["--replace"]).collect();
    elsewhere.ends(&replaced, 1);
    assert_eq!(site("index.html"), before);
    fs::create_dir(elsewhere.path("mine")).expect("a directory");
    fs::write(elsewhere.path("mine/letter.txt"), "dear").expect("writes");
    let rejected = elsewhere.ends(&["leaderboard", "build", "in", "--out", "mine", "--replace"], 1);
    assert!(rejected.err.contains("is not a leaderboard site"), "{rejected:?}");
    assert!(elsewhere.path("mine/letter.txt").is_file());
    elsewhere.ends(&["leaderboard", "build", "in", "--out", "zh", "--language", "zh"], 1);
    let chinese = fs::read_to_string(elsewhere.path("zh/index.html")).expect("a page");
    assert!(chinese.contains("lang=\"zh-CN\"") && chinese.contains("排行榜"), "{chinese}");
    elsewhere.ends(&["leaderboard", "build", "missing", "--out", "none"], 4);
    fs::create_dir(elsewhere.path("empty")).expect("a directory");
    let none = elsewhere.ends(&["leaderboard", "build", "empty", "--out", "none"], 1);
    assert!(none.err.contains("there is no bundle"), "{none:?}");
    let left = fs::read_dir(elsewhere.path(".")).expect("a directory").filter_map(Result::ok);
    assert!(left.into_iter().all(|file| !file.file_name().to_string_lossy().starts_with(".papertape")));
}

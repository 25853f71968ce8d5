//! `papertape data`: datasets that are imported, used, retained and removed.

use crate::cli_tool::Tool;
use rustix::process::Signal;
use std::fmt::Write as _;
use std::path::Path;

const BARS: &str = "symbol,date,open,high,low,close,volume\n\
    AAA,2024-01-02,10,11,9,10,1000\nAAA,2024-01-03,10,12,10,11,1000\nAAA,2024-01-04,11,12,10,12,1000\n\
    BBB,2024-01-02,20,21,19,20,500\nBBB,2024-01-03,20,22,20,21,500\nBBB,2024-01-04,21,22,20,22,500\n";

fn tool(files: &[(&str, &str)]) -> Tool {
    let tool = Tool::new();
    files.iter().for_each(|(name, text)| std::fs::write(tool.path(name), text).expect("writes"));
    tool
}

// Goal: an imported dataset is listed, shown, verified, run on, replayed, and not removed while the job uses
// it, even after its name refers to other content.
#[test]
fn an_imported_dataset_is_retained_for_its_jobs() {
    let other = BARS.replace("22,500", "22,501");
    let tool = tool(&[("bars.csv", BARS), ("other.csv", &other)]);
    let made = tool.json(&["data", "import", "bars.csv", "--name", "mine"]);
    let hash = made["hash"].as_str().expect("a hash").to_owned();
    assert_eq!((made["imported"].as_bool(), made["bars"].as_u64()), (Some(true), Some(6)));
    let again = tool.json(&["data", "import", "bars.csv", "--name", "mine"]);
    assert_eq!((again["imported"].as_bool(), again["hash"].as_str()), (Some(false), Some(&*hash)));
    let list = tool.json(&["data", "list"]);
    assert_eq!(list["count"], 2);
    // The fields are those of the API.
    for dataset in [&list["datasets"][0], &made, &tool.json(&["data", "show", "mine"])] {
        assert_eq!(dataset["intraday_bars"], 0, "{dataset}");
        assert_eq!(dataset.get("bars_within_days"), None, "{dataset}");
    }
    let shown = tool.json(&["data", "show", &hash[..8]]);
    assert_eq!((shown["name"].as_str(), shown["market"].as_str()), (Some("mine"), Some("us_equity")));
    tool.ok(&["data", "show", "mine"]);
    assert!(tool.ok(&["data", "verify", "mine"]).out.contains(&hash));
    assert!(tool.ok(&["data", "list"]).out.contains("AAA, BBB"));
    let run = [
        "run",
        "--dataset",
        "mine",
        "--start",
        "2024-01-02",
        "--end",
        "2024-01-04",
        "--model",
        "house::buy_and_hold",
        "--no-summaries",
    ];
    let job = tool.job(&run);
    tool.ok(&["replay", &job]);

    let taken = tool.ends(&["data", "import", "other.csv", "--name", "mine"], 1);
    assert!(taken.err.contains("--replace"), "{taken:?}");
    tool.ok(&["data", "import", "other.csv", "--name", "mine", "--replace"]);
    assert_ne!(tool.json(&["data", "show", "mine"])["hash"].as_str(), Some(&*hash));
    tool.ok(&["replay", &job]);
    tool.ok(&["results", &job]);
    let used = tool.ends(&["data", "remove", &hash], 1);
    assert!(used.err.contains(&job), "{used:?}");
    tool.ok(&["data", "remove", "mine"]);
    tool.ends(&["data", "show", "mine"], 4);
    tool.ends(&["data", "remove", "us-daily-2000-2013"], 1);
}

// Goal: rejected rows are reported by file and line with exit code 1 and nothing is imported; with quarantine
// they are written down and the rest is imported.
#[test]
fn rejected_rows_are_reported_or_quarantined() {
    let bad = BARS.replace("BBB,2024-01-03,20,22,20", "BBB,2024-01-03,20,2,20");
    let tool = tool(&[("bad.csv", &bad)]);
    let done = tool.ends(&["data", "import", "bad.csv", "--name", "mine", "--quarantine-not"], 2);
    assert!(done.err.contains("--quarantine"), "{done:?}");
    let done = tool.ends(&["data", "import", "bad.csv", "--name", "mine"], 1);
    assert!(done.err.contains("bad.csv, line 6: the high 2 is below the low 20"), "{done:?}");
    assert!(done.err.contains("1 of 6 rows rejected"), "{done:?}");
    tool.ends(&["data", "show", "mine"], 4);
    assert!(!tool.path("data/datasets").exists());
    let made = tool.json(&["data", "import", "bad.csv", "--name", "mine", "--quarantine", "q.jsonl"]);
    assert_eq!((made["bars"].as_u64(), made["report"]["refused"].as_u64()), (Some(5), Some(1)));
    let line: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(tool.path("q.jsonl")).expect("reads")).expect("JSON");
    assert_eq!(
        (line["line"].as_u64(), line["raw"].as_str()),
        (Some(6), Some("BBB,2024-01-03,20,2,20,21,500"))
    );
    for wrong in [["--name", "../x"], ["--zone", "Mars/Olympus"], ["--hours", "late"], ["--market", "none"]] {
        let mut args = vec!["data", "import", "bad.csv"];
        args.extend(if wrong[0] == "--name" { vec![] } else { vec!["--name", "x"] });
        args.extend(wrong);
        tool.ends(&args, 2);
    }
    tool.ends(&["data", "import", "gone.csv", "--name", "x"], 1);
}

// Goal: exported and imported on the command line, it is the same dataset; a folder stands for its files.
#[test]
fn an_exported_dataset_reimports_unchanged() {
    let tool = tool(&[("bars.csv", BARS)]);
    let hash = tool.json(&["data", "import", "bars.csv", "--name", "mine"])["hash"].clone();
    for form in ["csv", "jsonl", "parquet"] {
        tool.ok(&["data", "export", "mine", "--output", form, "--format", form]);
        let again = tool.json(&["data", "import", form, "--name", &format!("of-{form}")]);
        assert_eq!(again["hash"], hash, "{form}");
    }
    tool.ends(&["data", "export", "mine", "--output", "csv"], 1);
    tool.ends(&["data", "export", "none", "--output", "x"], 4);
}

/// Whether a write is in progress there.
fn is_writing(content: &Path) -> bool {
    let entries = std::fs::read_dir(content).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with('.'))
}

// Goal: an import that is killed while it writes leaves nothing that can be found; the next one cleans up and
// completes.
#[test]
fn crash_in_the_middle_of_an_import() {
    let mut text = String::from("symbol,date,open,high,low,close,volume\n");
    for symbol in 0..60 {
        for day in 0..2_000 {
            let (year, month, date) = (1990 + day / 336, 1 + day / 28 % 12, 1 + day % 28);
            let price = 10 + (symbol * 31 + day * 17) % 90;
            writeln!(text, "S{symbol},{year}-{month:02}-{date:02},{price},{price}.5,1,{price}.1,{day}")
                .expect("writes");
        }
    }
    let tool = tool(&[("many.csv", &text)]);
    let content = tool.path("data/datasets/content");
    let import = ["data", "import", "many.csv", "--name", "many"];
    for _ in 0..4 {
        let running = tool.start(&import);
        let mut ended = false;
        while !is_writing(&content) && !ended {
            ended =
                content.exists() && std::fs::read_dir(&content).is_ok_and(|mut found| found.next().is_some());
            std::thread::yield_now();
        }
        running.signal(Signal::KILL);
        drop(running);
        let list = tool.json(&["data", "list"]);
        let found = list["datasets"].as_array().expect("a list").iter().any(|one| one["name"] == "many");
        if found {
            // It completed before the signal arrived: everything is there.
            tool.ok(&["data", "verify", "many"]);
        }
    }
    tool.ok(&import);
    assert!(!is_writing(&content), "what was left is cleared away");
    tool.ok(&["data", "verify", "many"]);
}

/// Goal: a folder is read with its subfolders; files that are not data are skipped and named, and rows with
/// the same problem are one sentence.
#[test]
fn folders_are_read_recursively() {
    let tool = tool(&[]);
    std::fs::create_dir_all(tool.path("in/a/b")).expect("makes folders");
    std::fs::write(tool.path("in/a/b/bars.csv"), BARS).expect("writes");
    std::fs::write(tool.path("in/README.md"), "# Prices\n\nBought, with a licence.\n").expect("writes");
    std::fs::write(tool.path("in/a/chart.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xfe").expect("writes");
    std::fs::write(tool.path("in/a/empty.csv"), "").expect("writes");
    std::fs::write(tool.path("in/.hidden"), "no").expect("writes");
    let made = tool.json(&["data", "import", "in", "--name", "found"]);
    assert_eq!((made["bars"].as_u64(), made["report"]["files"].as_u64()), (Some(6), Some(1)), "{made}");
    let skipped: Vec<&str> = made["report"]["skipped"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["file"].as_str())
        .collect();
    assert_eq!(skipped.len(), 3, "{skipped:?}");
    for name in ["README.md", "chart.png", "empty.csv"] {
        assert!(skipped.iter().any(|file| file.ends_with(name)), "{name}: {skipped:?}");
    }
    let told = tool.ok(&["data", "import", "in", "--name", "found"]).err;
    assert!(told.contains("skipped") && told.contains("chart.png"), "{told}");
    // A file that is named explicitly must be data.
    tool.ends(&["data", "import", "in/README.md", "--name", "other"], 1);
}

// Goal: if a stock stops having bars for no known reason, its last close remains its price, and from the
// sixth trading day on the session says so, with the day of the last bar.
#[test]
fn a_stale_price_is_reported() {
    let mut rows = "symbol,date,open,high,low,close,volume\n".to_owned();
    for day in 1..=10 {
        writeln!(rows, "AAA,2024-01-{day:02},10,10,10,10,100000000").expect("writes");
        if day <= 3 {
            writeln!(rows, "BBB,2024-01-{day:02},20,20,20,20,100000000").expect("writes");
        }
    }
    let tool = tool(&[("bars.csv", &rows)]);
    tool.ok(&["data", "import", "bars.csv", "--name", "mine"]);
    let job = tool.job(&[
        "run",
        "--dataset",
        "mine",
        "--start",
        "2024-01-01",
        "--end",
        "2024-01-10",
        "--model",
        "house::buy_and_hold",
        "--no-summaries",
    ]);
    let missing = |day: &str| {
        let told = tool.json(&["results", &job, "--date", day]);
        let result = &told["results"][0];
        assert_eq!(result["quality"]["state"], "ok", "it degrades nothing: {told}");
        result["provenance"]["data_quality"]["sources_missing"].clone()
    };
    assert!(missing("2024-01-08")["price of BBB"].is_null());
    assert_eq!(
        missing("2024-01-09"),
        serde_json::json!({ "price of BBB": "no bar since 2024-01-03, 6 trading days: valued at its last close" })
    );
    let shown = tool.ok(&["results", &job, "--date", "2024-01-10"]).out;
    assert!(shown.contains("price of BBB: no bar since 2024-01-03"), "{shown}");
    tool.ok(&["replay", &job]);
    tool.ok(&["verify", &job]);
}

// Goal: shares of a company that is delisted while they are held are settled on the delisting's terms: the
// total loss is among the trades and in the value, a reflection records the cause, and the job replays and verifies.
#[test]
fn a_delisting_ends_a_position() {
    let days = ["2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05"];
    let mut rows = "symbol,date,open,high,low,close,volume\n".to_owned();
    for (at, day) in days.iter().enumerate() {
        writeln!(rows, "AAA,{day},10,10,10,10,100000000").expect("writes");
        if at < 2 {
            writeln!(rows, "BBB,{day},20,20,20,20,100000000").expect("writes");
        }
    }
    let actions = "symbol,ex_date,kind,value\nBBB,2024-01-04,delisting,nothing\n";
    let tool = tool(&[("bars.csv", &rows), ("actions.csv", actions)]);
    tool.ok(&["data", "import", "bars.csv", "actions.csv", "--name", "mine"]);
    let job = tool.job(&[
        "run",
        "--dataset",
        "mine",
        "--start",
        days[0],
        "--end",
        days[3],
        "--model",
        "house::buy_and_hold",
        "--no-summaries",
    ]);
    let day = tool.json(&["results", &job, "--date", days[2]]);
    let result = &day["results"][0];
    let [settled] = result["trades"].as_array().expect("a list").as_slice() else { panic!("{day}") };
    assert_eq!(settled["action_type"], "delisting", "{settled}");
    assert_eq!(
        (&settled["symbol"], &settled["price"], &settled["fee"]),
        (&"BBB".into(), &0.into(), &0.into())
    );
    let held = settled["quantity"].as_f64().expect("a number");
    assert!(held > 0.0 && settled["realized_pnl"].as_f64() <= Some(-held * 20.0), "{settled}");
    let holdings = result["final_position"]["holdings"].as_array().expect("a list");
    assert!(holdings.iter().all(|held| held["symbol"] == "AAA"), "{result}");
    assert!(tool.ok(&["results", &job, "--date", days[2]]).out.contains("delisting"));
    let trades = tool.json(&["memory", "trades", "--job", &job]);
    assert_eq!(trades["trades"][0]["cause"], "delisting", "{trades}");
    tool.ok(&["replay", &job]);
    tool.ok(&["verify", &job]);
    let shown = tool.ok(&["data", "show", "mine"]);
    assert!(shown.out.contains("mine"), "{shown:?}");
}

// Goal: members of an index are imported, shown and come back from an export; a run on the index trades the members of
// each day, is replayed and told as such, and a wrong universe is a usage error that says what there is.
#[test]
fn an_imported_index_can_be_traded_as_a_universe() {
    let members =
        "index,symbol,from,until\nIDX,AAA,2024-01-02,2024-01-04\nIDX,BBB,2024-01-03,\nIDX,ZZZ,2020-01-01,\n";
    let tool = tool(&[("bars.csv", BARS), ("members.csv", members)]);
    let made = tool.json(&["data", "import", "bars.csv", "members.csv", "--name", "mine"]);
    let note = made["report"]["notes"][0].as_str().expect("a note");
    assert_eq!(note, "members without bars are left out of IDX: 1 (ZZZ); a run on it trades without them");
    assert!(tool.ok(&["data", "show", "mine"]).out.contains("IDX: 2 symbols, 2 memberships"));
    let shown = tool.json(&["data", "show", "mine"]);
    assert_eq!(shown["universes"][0]["name"], "IDX");
    assert!(tool.ok(&["data", "list"]).out.contains("AAA, BBB; universes: IDX"));
    tool.ok(&["data", "export", "mine", "--output", "out", "--format", "parquet"]);
    let again = tool.json(&["data", "import", "out", "--name", "again"]);
    assert_eq!(again["hash"], made["hash"]);

    let run = |more: &[&'static str]| {
        let mut args = vec!["run", "--dataset", "mine", "--start", "2024-01-02", "--end", "2024-01-04"];
        args.extend(["--model", "house::buy_and_hold", "--no-summaries"]);
        args.extend(more);
        args
    };
    let job = tool.job(&run(&["--universe", "IDX"]));
    tool.ok(&["replay", &job]);
    tool.ok(&["verify", &job]);
    assert!(tool.ok(&["jobs", &job]).out.contains("the members of IDX on each day"));
    let results = tool.ok(&["results", &job]);
    let told = format!("{} {}", results.out, results.err).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("Universe: the members of IDX on each day."), "{told}");
    let unknown = tool.ends(&run(&["--universe", "NONE"]), 2);
    assert!(
        unknown.err.contains("--universe: unknown index `NONE` in mine; expected one of IDX"),
        "{unknown:?}"
    );
    let both = tool.ends(&run(&["--universe", "IDX", "--symbols", "AAA"]), 2);
    assert!(both.err.contains("--symbols"), "{both:?}");
    let early =
        tool.ends(&["run", "--dataset", "us-daily-2000-2013", "--end", "2012-10-01", "--universe", "IDX"], 2);
    assert!(early.err.contains("it has no indexes with members; import rows"), "{early:?}");
}

//! Evidence bundles of real jobs: written through the service, the API and the command line, and verified without a
//! database.

use crate::api_support::{DAYS, MODELS, World, week};
use crate::bundle_support::{
    Forgery, assert_whole, bundle_of, bundle_of_experiment, failed, stored_zip, succeeded, verified, written,
};
use crate::cli_tool::{SHORT, Tool};
use axum::body::Body;
use axum::http::Request;
use papertape_agents::config::AgentConfig;
use papertape_core::id::{AgentName, JobId};
use papertape_protocol::bundle::TapeForm;
use papertape_service::bundle::{BundleOptions, BundleTarget, PartCheck, verify};
use papertape_service::trigger::Request as Simulation;
use serde_json::{Value, json};
use std::io::Cursor;
use tower::ServiceExt as _;

/// The file as the API sends it.
async fn download(world: &World, uri: &str) -> Vec<u8> {
    let request = Request::get(uri).header("host", "localhost").header("accept-encoding", "gzip");
    let request = request.body(Body::empty()).expect("a request");
    let response = world.router.clone().oneshot(request).await.expect("the router always answers");
    assert_eq!(response.status(), 200, "{uri}");
    assert_eq!(response.headers()["content-type"], "application/zip");
    assert!(response.headers().get("content-encoding").is_none(), "it is compressed already");
    let length: usize =
        response.headers()["content-length"].to_str().expect("text").parse().expect("a length");
    let bytes = axum::body::to_bytes(response.into_body(), 64 << 20).await.expect("a body").to_vec();
    assert_eq!(bytes.len(), length);
    bytes
}

/// Goal: the bundle of a finished job verifies in every form, twice with the same bytes, through the service and the
/// API, with an audit and without; and it contains everything that its results rest on.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_bundled_and_verified() {
    let world = World::new().await;
    for tape in TapeForm::ALL {
        let bytes = bundle_of(&world, &world.job, tape).await;
        assert!(bytes == bundle_of(&world, &world.job, tape).await, "{tape}: the same bytes");
        let report = assert_whole(&bytes);
        let uri = format!("/jobs/{}/bundle?audit=false&tape={tape}", world.job);
        assert!(bytes == download(&world, &uri).await, "{tape}: the API's");
        let links = report.jobs[0].links;
        match tape {
            TapeForm::None => assert_eq!(links, None),
            TapeForm::Full => {
                assert!(links.is_some_and(|(all, stated)| all > 100 && stated == 0), "{links:?}")
            }
            TapeForm::Redacted => {
                assert!(links.is_some_and(|(all, stated)| stated >= 10 && stated * 2 < all), "{links:?}");
            }
        }
        let head = world.good(&format!("/jobs/{}/head", world.job)).await;
        assert_eq!(json!(report.jobs[0].head), head["hash"]);
    }

    let target = BundleTarget::Job(JobId::new(world.job.as_str()));
    let options = BundleOptions { tape: TapeForm::None, audit: true };
    let bytes = succeeded(written(&world.app, &target, options).await);
    let report = assert_whole(&bytes);
    let names: Vec<&str> =
        report.parts.iter().map(|part| part.name.rsplit('/').next().unwrap_or_default()).collect();
    let all = [
        "manifest.json",
        "job.json",
        "config.json",
        "datasets.json",
        "ledger.jsonl",
        "fills.jsonl",
        "metrics.json",
        "audit.json",
        "heads.json",
        "comparison.json",
        "comparison-input.json",
    ];
    assert_eq!(names, all);
    let recomputed = |name: &str| {
        report.parts.iter().any(|part| part.name.ends_with(name) && part.check == PartCheck::Recomputed)
    };
    assert!(recomputed("ledger.jsonl") && recomputed("metrics.json") && recomputed("comparison.json"));
    assert!(!recomputed("audit.json"));
    let limitations = report.limitations.join("\n");
    for sentence in
        ["10 sessions verified, 0 failed", "house::momentum is rule-based", "The tape is not included"]
    {
        assert!(limitations.contains(sentence), "{sentence}: {limitations}");
    }
    let parts = Forgery::of(&bytes);
    let metrics: Value = serde_json::from_str(parts.text("metrics.json")).expect("JSON");
    let results = world.good(&format!("/results?job_id={}", world.job)).await;
    assert_eq!(metrics, results["results"]);
    assert_eq!(metrics[1]["daily_portfolio_values"].as_array().map(Vec::len), Some(DAYS.len()));
    assert_eq!(parts.text("ledger.jsonl").lines().count(), MODELS.len() * (1 + DAYS.len()));
}

/// Goal: the bundle of a PostgreSQL database verifies, and has the same ledger, fills and metrics.
#[tokio::test(flavor = "multi_thread")]
async fn postgres_gives_the_same_bundle() {
    let (sqlite, postgres) = tokio::join!(World::new(), World::on_postgres());
    let mut parts = Vec::new();
    for world in [&sqlite, &postgres] {
        let bytes = bundle_of(world, &world.job, TapeForm::Full).await;
        assert_whole(&bytes);
        let found = Forgery::of(&bytes);
        let text = |end: &str| found.text(end).replace(&world.job, "JOB");
        parts.push(["ledger.jsonl", "fills.jsonl", "metrics.json", "comparison.json"].map(text));
    }
    assert!(parts[0] == parts[1], "{parts:?}");
}

/// Goal: a changed byte is found wherever it is in the file, and the part that it belongs to is named; so is every
/// truncation, and every appended byte.
#[tokio::test(flavor = "multi_thread")]
async fn every_flipped_byte_is_found_and_its_part_named() {
    let world = World::empty().await;
    let start = jiff::civil::date(2012, 10, 1);
    let models = vec!["house::momentum".to_owned()];
    let job = world.run(Simulation { end_date: Some(start), models, ..week() }).await;
    let bytes = bundle_of(&world, &job, TapeForm::Redacted).await;
    assert_whole(&bytes);
    let mut owners = vec!["the archive's directory".to_owned(); bytes.len()];
    let mut archive = zip::ZipArchive::new(Cursor::new(&bytes)).expect("a zip archive");
    let trailer = archive.comment().len();
    for at in 0..archive.len() {
        let file = archive.by_index_raw(at).expect("an entry");
        let start = usize::try_from(file.data_start().expect("its data")).expect("an offset");
        let end = start + usize::try_from(file.compressed_size()).expect("a size");
        owners[start..end].fill(file.name().expect("a name").into_owned());
    }
    let length = bytes.len();
    owners[length - trailer..].fill("the archive's trailer".to_owned());

    let mut changed = bytes.clone();
    for at in 0..length {
        let bit = 1 << (at % 8);
        changed[at] ^= bit;
        let report = verify(Cursor::new(&changed), None).unwrap_or_else(|error| panic!("byte {at}: {error}"));
        assert!(!report.whole, "byte {at} of {}", owners[at]);
        assert_eq!(failed(&report).into_keys().collect::<Vec<_>>(), [owners[at].as_str()], "byte {at}");
        changed[at] ^= bit;
    }
    for cut in [0, 1, 21, 22, 30, 43, 500, length / 2, length - trailer, length - 65, length - 1] {
        let found = verify(Cursor::new(&bytes[..cut]), None);
        assert!(!found.is_ok_and(|report| report.whole), "{cut} bytes");
    }
    for extra in [&b"x"[..], b"\n", &bytes] {
        let longer = [&bytes[..], extra].concat();
        assert!(!verify(Cursor::new(longer), None).is_ok_and(|report| report.whole));
    }
}

/// Goal: files that a stranger made end in an error or a report, never in a panic or in the memory that they ask for.
#[test]
fn hostile_files_are_rejected() {
    let rejected = |bytes: Vec<u8>| match verify(Cursor::new(bytes), None) {
        Ok(report) => {
            assert!(!report.whole);
            failed(&report).into_iter().map(|(name, why)| format!("{name}: {why}")).collect()
        }
        Err(error) => error.to_string(),
    };
    assert_eq!(rejected(Vec::new()), "not a bundle, or not all of it: the file is empty");
    assert!(rejected(b"hello".to_vec()).contains("another kind of file"));
    let mut other = zip::ZipWriter::new(Cursor::new(Vec::new()));
    other.start_file("a.txt", zip::write::SimpleFileOptions::default()).expect("begins");
    assert!(rejected(other.finish().expect("ends").into_inner()).contains("another zip archive"));
    assert!(rejected(stored_zip(b"{}", "2")).contains("format version 2, and this program reads version 1"));

    let hash = "0".repeat(64);
    let part = |name: &str, bytes: u64, stored: u64| {
        json!({
            "name": name, "media_type": "application/json", "bytes": bytes, "blake3": hash, "compression": "deflate",
            "stored_bytes": stored, "stored_blake3": hash, "crc32": 0
        })
    };
    let manifest = |parts: Value| {
        let manifest = json!({
            "format": "papertape.bundle.v1", "program_version": "0", "about": { "kind": "job", "id": "a" },
            "tape": "none", "jobs": [], "limitations": [], "parts": parts
        });
        stored_zip(manifest.to_string().as_bytes(), "1")
    };
    for name in ["../evil", "/etc/passwd", "a\\b", "C:/x", "", "a//b"] {
        let why = rejected(manifest(json!([part(name, 1, 1)])));
        assert!(why.contains("is not a plain relative path"), "{name}: {why}");
    }
    let why = rejected(manifest(json!([part("a", 1, 1), part("a", 1, 1)])));
    assert!(why.contains("listed twice"), "{why}");
    let why = rejected(manifest(json!([part("manifest.json", 1, 1)])));
    assert!(why.contains("listed twice"), "{why}");
    // A bomb, a size beyond zip, and sizes that would overflow.
    for (bytes, stored) in [(1 << 40, 1 << 10), (1, 1 << 33), (u64::MAX, u64::MAX), (1 << 41, (1 << 32) - 2)]
    {
        let why = rejected(manifest(json!([part("a", bytes, stored)])));
        assert!(why.contains("impossible") || why.contains("4 GiB"), "{bytes} {stored}: {why}");
    }
    let many: Vec<Value> = (0..10_000).map(|n| part(&format!("p{n}"), 1, 1)).collect();
    assert!(rejected(manifest(json!(many))).contains("10000 parts"));
    let fits: Vec<Value> = (0..3).map(|n| part(&format!("p{n}"), 1 << 20, 1 << 31)).collect();
    assert!(rejected(manifest(json!(fits))).contains("4 GiB"));
    let missing = rejected(manifest(json!([part("a", 1, 1)])));
    assert!(missing.contains("archive's directory"), "{missing}");
    for manifest in
        ["", "[]", "{}", "{\"format\":\"papertape.bundle.v1\"}", "{\"format\":\"papertape.bundle.v9\"}"]
    {
        rejected(stored_zip(manifest.as_bytes(), "1"));
    }
    let deep = "[".repeat(100_000);
    assert!(rejected(stored_zip(deep.as_bytes(), "1")).contains("recursion limit"));
}

/// Goal: the redacted form contains no text of the tape: no prompt, response, tool result, memory or instruction. It
/// still verifies, and the full form still has them all.
#[tokio::test(flavor = "multi_thread")]
async fn the_redacted_form_contains_no_texts() {
    let world = World::empty().await;
    let instructions = "Never tell anyone about the blue heron strategy.";
    let mut trader = AgentConfig::solo(AgentName::new("trader"), "house::momentum".parse().expect("a model"));
    trader.instructions = Some(instructions.to_owned());
    let mut desk = AgentConfig::desk(AgentName::new("desk"), "house::contrarian".parse().expect("a model"));
    desk.instructions = Some(instructions.to_owned());
    let end = jiff::civil::date(2012, 10, 3);
    let request =
        Simulation { agents: vec![trader, desk], models: Vec::new(), end_date: Some(end), ..week() };
    let job = world.run(request).await;
    let full = Forgery::of(&bundle_of(&world, &job, TapeForm::Full).await);
    let bytes = bundle_of(&world, &job, TapeForm::Redacted).await;
    let report = assert_whole(&bytes);
    assert!(report.limitations.iter().any(|text| text.contains("texts of its config are replaced")));
    let redacted = Forgery::of(&bytes);
    assert!(full.text("config.json").contains(instructions));
    let mut texts: Vec<String> = Vec::new();
    for line in full.text("texts.jsonl").lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        collect_strings(&line["text"], &mut texts);
    }
    for line in full.text("tape.jsonl").lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        collect_strings(&line["link"]["metadata"], &mut texts);
        collect_strings(&line["link"]["text"], &mut texts);
    }
    // Words such as `completed` or a symbol are no texts of the tape.
    texts.retain(|text| text.len() > 40 && text.contains(' '));
    texts.push(instructions.to_owned());
    assert!(texts.len() > 100, "{}", texts.len());
    for (name, part) in &redacted.parts {
        for text in &texts {
            let quoted = serde_json::to_string(text).expect("JSON");
            let quoted = quoted.trim_matches('"');
            assert!(!part.contains(quoted), "{name} contains {quoted}");
        }
    }
}

/// All strings of a value; of a document in a string, those of the document.
fn collect_strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let document = text.strip_prefix("json\n").and_then(|text| serde_json::from_str(text).ok());
            match document {
                Some(document) => collect_strings(&document, found),
                None => found.push(text.clone()),
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, found)),
        Value::Object(map) => map.values().for_each(|item| collect_strings(item, found)),
        _ => {}
    }
}

/// Goal: an experiment is bundled with all its jobs and the comparison that it declared; a stopped one is marked as
/// interim; a job that has not stopped, or has nothing to bundle, is rejected.
#[tokio::test(flavor = "multi_thread")]
async fn experiments_are_bundled_with_their_comparison() {
    let world = World::empty().await;
    let body = json!({
        "simulation": {
            "start_date": "2012-10-01", "end_date": "2012-10-12", "models": MODELS, "symbols": ["IBM", "AAPL"],
            "initial_cash": 10_000
        },
        "windows": { "count": 2, "days": 3 },
        "compare": "buy_and_hold"
    });
    let created = world.post("/experiments", &body).await;
    assert_eq!(created.status, 202, "{}", created.text);
    let created = created.json();
    let id = created["experiment_id"].as_str().expect("an ID").to_owned();
    let jobs: Vec<String> = created["jobs"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|job| job["job_id"].as_str().or_else(|| job.as_str()).expect("an ID").to_owned())
        .collect();
    let waiting = world.get(&format!("/experiments/{id}/bundle")).await;
    assert_eq!(waiting.status, 409, "{}", waiting.text);
    assert!(waiting.text.contains("is queued"), "{}", waiting.text);
    world.work(&jobs[0]).await;
    let cancelled = world.post(&format!("/experiments/{id}/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, 202, "{}", cancelled.text);
    let interim = assert_whole(&bundle_of_experiment(&world, &id, TapeForm::None).await);
    let limitations = interim.limitations.join("\n");
    assert!(limitations.contains("The comparison is interim"), "{limitations}");
    assert!(limitations.contains("0 of 6 planned model-days have ended"), "{limitations}");

    world.post(&format!("/experiments/{id}/resume"), &json!({})).await;
    for job in &jobs[1..] {
        world.work(job).await;
    }
    let bytes = bundle_of_experiment(&world, &id, TapeForm::Full).await;
    assert!(bytes == download(&world, &format!("/experiments/{id}/bundle?audit=false&tape=full")).await);
    let report = assert_whole(&bytes);
    assert_eq!(report.jobs.len(), 2);
    assert!(!report.limitations.iter().any(|text| text.contains("interim")), "{:?}", report.limitations);
    let parts = Forgery::of(&bytes);
    let comparison: Value = serde_json::from_str(parts.text("comparison.json")).expect("JSON");
    assert_eq!(comparison["family"]["declared_by"], id.as_str());
    for uri in ["/jobs/unknown/bundle", "/experiments/unknown/bundle", "/jobs/%00/bundle"] {
        assert_eq!(world.get(uri).await.status, 404, "{uri}");
    }
    for uri in ["bundle?tape=half", "bundle?audit=maybe", "bundle?x=1"] {
        assert_eq!(world.get(&format!("/jobs/{}/{uri}", jobs[0])).await.status, 400, "{uri}");
    }
}

/// Goal: the command line writes a bundle next to nothing and verifies it in a directory without a database, with an
/// unusable config, and against a published head; a damaged file exits with 1 and names the part.
#[test]
fn the_command_line_writes_and_verifies() {
    let tool = Tool::new();
    let job = tool.job(&SHORT);
    std::fs::write(tool.path("head.json"), tool.ok(&["head", &job]).out).expect("writes");
    let made = tool.json(&["bundle", &job, "--output", "job.zip", "--tape", "full"]);
    let other = tool.ok(&["bundle", "latest", "-o", "again.zip", "--tape", "full"]);
    assert!(other.err.contains("papertape verify again.zip"), "{other:?}");
    let (first, again) = (std::fs::read(tool.path("job.zip")), std::fs::read(tool.path("again.zip")));
    assert!(first.expect("a file") == again.expect("a file"), "the same job gives the same bytes");
    assert!(!tool.path("job.zip.part").exists());

    let elsewhere = Tool::new().configured("this is = not [a config");
    std::fs::copy(tool.path("job.zip"), elsewhere.path("job.zip")).expect("copies");
    std::fs::copy(tool.path("head.json"), elsewhere.path("head.json")).expect("copies");
    let done = elsewhere.ok(&["verify", "job.zip"]);
    assert!(done.out.contains("ledger.jsonl") && done.out.contains("recomputed"), "{done:?}");
    assert!(done.out.contains("Known limitations:") && done.out.contains("Not verified:"), "{done:?}");
    let report = elsewhere.json(&["verify", "job.zip"]);
    assert_eq!((&report["whole"], &report["bundle"]), (&json!(true), &made["bundle"]));
    let head = report["jobs"][0]["head"].as_str().expect("a hash").to_owned();
    elsewhere.ok(&["verify", "job.zip", "--expect", "head.json"]);
    elsewhere.ok(&["verify", "job.zip", "--expect", &head]);
    elsewhere.ends(&["verify", "job.zip", "--expect", &"0".repeat(64)], 1);
    assert!(!elsewhere.path("data").exists(), "nothing was opened");

    let mut bytes = std::fs::read(tool.path("job.zip")).expect("reads");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(elsewhere.path("damaged.zip"), &bytes).expect("writes");
    let done = elsewhere.ends(&["verify", "damaged.zip"], 1);
    assert!(done.out.contains("FAILED") && done.err.contains("verification failed: jobs/"), "{done:?}");
    std::fs::write(elsewhere.path("text.zip"), "hello").expect("writes");
    let done = elsewhere.ends(&["verify", "text.zip"], 1);
    assert!(done.err.contains("another kind of file"), "{done:?}");
    elsewhere.ends(&["verify", "missing.zip"], 4);
    assert_eq!(verified(&bytes).parts.iter().filter(|part| !part.ok).count(), 1);
}

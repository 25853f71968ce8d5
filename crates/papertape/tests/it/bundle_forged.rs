//! Forged bundles: every hash is right, because whoever changed the content computed them again. The recomputation
//! finds what does not follow from the rest.

use crate::api_support::{World, week};
use crate::bundle_support::{Forgery, assert_whole, bundle_of, failed, verified};
use papertape_core::id::{ContentHash, JobId};
use papertape_core::record::JobHead;
use papertape_protocol::bundle::TapeForm;
use papertape_service::bundle::verify;
use papertape_service::trigger::Request as Simulation;
use serde_json::{Value, json};
use std::io::Cursor;

async fn world() -> World {
    let mut world = World::empty().await;
    let end = Some(jiff::civil::date(2012, 10, 12));
    world.job = world.run(Simulation { end_date: end, ..week() }).await;
    world
}

/// The part that fails first, and why.
#[track_caller]
fn caught(forgery: &Forgery, part: &str, why: &str) {
    let report = verified(&forgery.bytes());
    let failed = failed(&report);
    let found = failed.iter().find(|(name, _)| name.ends_with(part));
    let (_, reason) = found.unwrap_or_else(|| panic!("{part} passed: {failed:?}"));
    assert!(reason.contains(why), "{part}: {reason}");
}

/// Adds to a number or to an exact decimal in a text.
fn add(value: &mut Value, more: f64) {
    *value = match &*value {
        Value::String(text) => json!((text.parse::<f64>().expect("a number") + more).to_string()),
        number => json!(number.as_f64().expect("a number") + more),
    };
}

/// Goal: whoever edits fills, books, metrics, comparisons, statements or limitations and repairs every hash is found.
#[tokio::test(flavor = "multi_thread")]
async fn edits_with_repaired_hashes_are_found() {
    let world = world().await;
    let honest = Forgery::of(&bundle_of(&world, &world.job, TapeForm::None).await);
    assert_whole(&honest.bytes());
    let forge = || honest.clone();

    // Fills and books.
    let mut once = true;
    let cheaper = forge().edit_lines("fills.jsonl", |line| {
        if std::mem::take(&mut once) {
            add(&mut line["fills"][0]["price"], -1.0);
        }
    });
    caught(&cheaper, "ledger.jsonl", "it is not the fill of order");
    let both = cheaper.clone().edit_lines("fills.jsonl", |line| {
        let price = line["fills"][0]["price"].clone();
        line["orders"][0]["price"] = price;
    });
    caught(&both, "ledger.jsonl", "after the action");
    let without =
        forge().edit("fills.jsonl", |text| text.lines().skip(1).map(|line| format!("{line}\n")).collect());
    caught(&without, "ledger.jsonl", "");
    let richer = forge().edit_lines("ledger.jsonl", |line| {
        if line["row"] == "day" {
            add(&mut line["portfolio_value"], 100.0);
        }
    });
    caught(&richer, "ledger.jsonl", "by the fills");
    let marked = forge().edit_lines("ledger.jsonl", |line| {
        if !line["holdings"][0].is_null() {
            add(&mut line["holdings"][0]["price"], 1.0);
        }
    });
    caught(&marked, "ledger.jsonl", "by the fills");
    let started = forge().edit_lines("ledger.jsonl", |line| {
        if line["row"] == "account" {
            add(&mut line["account"]["cash"], 5_000.0);
        }
    });
    caught(&started, "ledger.jsonl", "initial cash");
    let last = forge().edit("ledger.jsonl", |text| {
        let lines: Vec<&str> = text.lines().collect();
        lines[..lines.len() - 1].iter().map(|line| format!("{line}\n")).collect()
    });
    caught(&last, "ledger.jsonl", "the day is not the session in heads.json");

    // Metrics, comparison, statements.
    let metrics = |edit: fn(&mut Value)| forge().edit_json("metrics.json", |results| edit(&mut results[1]));
    caught(
        &metrics(|one| add(&mut one["period_metrics"]["total_return"], 0.01)),
        "metrics.json",
        "total_return",
    );
    caught(
        &metrics(|one| add(&mut one["ending_portfolio_value"], 1.0)),
        "metrics.json",
        "ending_portfolio_value",
    );
    caught(
        &metrics(|one| one["provenance"]["point_in_time"] = json!("unverified")),
        "metrics.json",
        "point_in_time",
    );
    let gone =
        forge().edit_json("metrics.json", |results| drop(results.as_array_mut().expect("a list").pop()));
    caught(&gone, "metrics.json", "its agents are not those of the ledger");
    let better = forge().edit_json("comparison.json", |found| found["pairs"][0]["verdict"] = json!("better"));
    caught(&better, "comparison.json", "/pairs/0/verdict");
    let series = forge().edit_json("comparison-input.json", |input| {
        add(&mut input["items"][0]["trials"][0]["values"][0][1], 1.0);
    });
    caught(&series, "comparison-input.json", "its values are not those of the books");
    let fewer = forge().edit_json("comparison-input.json", |input| {
        input["items"].as_array_mut().expect("a list").remove(0);
        input["tried"].as_array_mut().expect("a list").remove(0);
    });
    caught(&fewer, "comparison-input.json", "is not compared");
    let cheaper = forge().edit_json("comparison-input.json", |input| {
        input["items"][0]["ground"]["conditions"]["costs"] = json!("none");
    });
    caught(&cheaper, "comparison-input.json", "its conditions are not those of the config");
    let mut silent = forge();
    silent.manifest["limitations"].as_array_mut().expect("a list").remove(0);
    caught(&silent, "manifest.json", "limitations");
    let mut known = forge();
    known.manifest["jobs"][0]["head"] = json!(ContentHash::of(b"another head"));
    caught(&known, "heads.json", "the hash of the head");
    let config = forge().edit_json("config.json", |config| config["seed"] = json!(4242));
    caught(&config, "heads.json", "the anchor is not that of the config");
    let data =
        forge().edit_json("datasets.json", |all| all[0]["hash"] = json!(ContentHash::of(b"other data")));
    caught(&data, "datasets.json", "not the dataset of the config");
    let status = forge().edit_json("job.json", |job| job["status"] = json!("failed"));
    caught(&status, "heads.json", "status");

    // Parts that are missing, or that nobody expects.
    let mut fewer = forge();
    fewer.parts.retain(|(name, _)| !name.ends_with("audit.json"));
    caught(&fewer, "audit.json", "missing");
    let mut more = forge();
    more.parts.push(("virus.exe".to_owned(), "x".to_owned()));
    caught(&more, "virus.exe", "no such part");
}

/// Goal: whoever also repairs the books is found by the tape, in the full and in the redacted form; whoever edits the
/// tape, by its chains; whoever repairs the chains too, by a published head.
#[tokio::test(flavor = "multi_thread")]
async fn the_tape_binds_the_books() {
    let world = world().await;
    for form in [TapeForm::Full, TapeForm::Redacted] {
        let honest = Forgery::of(&bundle_of(&world, &world.job, form).await);
        assert_whole(&honest.bytes());
        // The code of a rejection or of an order is in no sum: only the tape shows that it was changed.
        let relabeled = honest.clone().edit_lines("fills.jsonl", |line| {
            if line["orders"][0]["status"] == "filled" {
                line["orders"][0]["message"] = json!("as the model wanted");
            }
        });
        if form == TapeForm::Full {
            caught(&relabeled, "tape.jsonl", "an order on the tape differs from the ledger");
        }
        let mut once = true;
        let skipped = honest.clone().edit("tape.jsonl", |text| {
            let keep = |line: &&str| !(line.contains("\"path\"") && std::mem::take(&mut once));
            text.lines().filter(keep).map(|line| format!("{line}\n")).collect()
        });
        caught(&skipped, "tape.jsonl", "its chain is not the one in heads.json");
        let mut once = true;
        let other = honest.clone().edit_lines("tape.jsonl", |line| {
            if line["rows"][0]["row"] == "position" && std::mem::take(&mut once) {
                add(&mut line["rows"][0]["amount"], 1.0);
            }
        });
        caught(&other, "tape.jsonl", "the rows of a step are not those of its link");
        let shorter = honest.clone().edit("tape.jsonl", |text| {
            let last = text.rfind("{\"row\":\"session\"").expect("sessions");
            text[..last].to_owned()
        });
        caught(&shorter, "tape.jsonl", "missing or not expected");
        let cut = honest.clone().edit("tape.jsonl", |text| text[..text.len() - 1].to_owned());
        caught(&cut, "tape.jsonl", "incomplete");
    }
    let honest = Forgery::of(&bundle_of(&world, &world.job, TapeForm::Full).await);
    let mut once = true;
    let said = honest.clone().edit_lines("texts.jsonl", |line| {
        if std::mem::take(&mut once) {
            line["text"] = json!("I knew it.");
        }
    });
    caught(&said, "texts.jsonl", "was modified");
    let fewer = honest
        .clone()
        .edit("texts.jsonl", |text| text.lines().skip(1).map(|line| format!("{line}\n")).collect());
    caught(&fewer, "texts.jsonl", "is missing");
    let more = honest.clone().edit("texts.jsonl", |text| {
        format!("{text}{}\n", json!({ "hash": ContentHash::of(b"extra"), "text": "extra" }))
    });
    caught(&more, "texts.jsonl", "nothing references");

    // The head that was published when the job ran.
    let head =
        world.app.store.job_head(&JobId::new(world.job.as_str())).await.expect("reads").expect("a head");
    let check = |head: &JobHead| verify(Cursor::new(honest.bytes()), Some(head)).expect("a bundle");
    assert!(check(&head).whole);
    let mut other = head.clone();
    other.anchor = ContentHash::of(b"another config");
    assert!(failed(&check(&other)).into_values().any(|why| why.contains("config has changed")));
    let mut other = head.clone();
    other.job = JobId::new("another-job");
    assert!(failed(&check(&other)).contains_key("manifest.json"));
}

/// Goal: whatever is in the parts, the verification ends with a report: no panic, no overflow, no endless loop.
#[tokio::test(flavor = "multi_thread")]
async fn no_content_breaks_the_verification() {
    let world = World::empty().await;
    let end = Some(jiff::civil::date(2012, 10, 2));
    let job = world.run(Simulation { end_date: end, ..week() }).await;
    let honest = Forgery::of(&bundle_of(&world, &job, TapeForm::Full).await);
    let poisons = [
        json!(null),
        json!(-1),
        json!(u64::MAX),
        json!(1e300),
        json!("79228162514264337593543950335"),
        json!("-0.0000000000000000000000000001"),
        json!("9".repeat(100)),
        json!(""),
        json!([]),
        json!({}),
        json!("9999-12-31"),
        json!(true),
    ];
    let mut x: u64 = 7;
    let mut next = |below: usize| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(x >> 33).expect("31 bits") % below.max(1)
    };
    let mut undetected = Vec::new();
    for _ in 0..300 {
        let mut forged = honest.clone();
        let at = next(forged.parts.len());
        let (name, text) = forged.parts[at].clone();
        let mut lines: Vec<String> = match name.ends_with(".jsonl") {
            true => text.lines().map(str::to_owned).collect(),
            false => vec![text.clone()],
        };
        let line = next(lines.len());
        let mut value: Value = serde_json::from_str(&lines[line]).expect("JSON");
        let mut pointers = Vec::new();
        leaves(&value, String::new(), &mut pointers);
        let pointer = pointers[next(pointers.len())].clone();
        let poison = poisons[next(poisons.len())].clone();
        let place = value.pointer_mut(&pointer).expect("a leaf");
        let before = std::mem::replace(place, poison);
        if *place == before {
            continue;
        }
        lines[line] = value.to_string();
        forged.parts[at].1 = match name.ends_with(".jsonl") {
            true => lines.iter().map(|line| format!("{line}\n")).collect(),
            false => lines.concat(),
        };
        if verified(&forged.bytes()).whole {
            undetected.push(format!("{name}{pointer}"));
        }
    }
    // What is stated, and nothing else depends on.
    let stated = |place: &String| {
        let of =
            |part: &str, keys: &[&str]| place.contains(part) && keys.iter().any(|key| place.contains(key));
        of("audit.json", &[""])
            || of("job.json", &["model_calls", "/parts"])
            || of("config.json", &["/budget"])
            || of(
                "metrics.json",
                &["/baselines", "/benchmark", "/conventions", "/refilled_at_next_open", "/is_llm"],
            )
            || of("comparison-input.json", &["/refilled", "/model_cost"])
    };
    undetected.retain(|place| !stated(place));
    assert_eq!(undetected, Vec::<String>::new());
}

fn leaves(value: &Value, path: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(at, item)| leaves(item, format!("{path}/{at}"), found));
        }
        Value::Object(map) if !map.is_empty() => map.iter().for_each(|(key, item)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            leaves(item, format!("{path}/{key}"), found);
        }),
        _ => found.push(path),
    }
}

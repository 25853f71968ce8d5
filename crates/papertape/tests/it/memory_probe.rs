//! Memory probes with the real binary over the bundled data, against a scripted model over HTTP.

use crate::api_support::World;
use crate::cli_tool::Tool;
use papertape_core::id::{ContentHash, Symbol};
use papertape_evidence::{PARAPHRASES, Quiz, QuizDesign, QuizKind, QuizResponse, design_quiz};
use papertape_market::bundled;
use papertape_runtime::memory_probe::histories;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

const ITEMS: usize = 40;
const PROBE: [&str; 8] =
    ["probe", "memory", "--model", "test::quizzed", "--items", "40", "--kinds", "direction,level"];
/// 40 items and 40 controls of two kinds.
const CALLS: usize = 4 * ITEMS * PARAPHRASES;

/// The quiz that [`PROBE`] asks.
fn quiz() -> Quiz {
    let dataset = bundled();
    let symbols: BTreeSet<Symbol> = dataset.tradable_symbols().cloned().collect();
    let design = QuizDesign {
        dataset: &dataset.hash().to_hex(),
        kinds: &[QuizKind::Direction, QuizKind::Level],
        items_per_kind: ITEMS,
        cutoff: None,
        seed: 0,
    };
    design_quiz(&histories(&dataset, &symbols, None, None), &design)
}

/// The letter of the right choice of each item's prompts.
fn recalled() -> BTreeMap<String, &'static str> {
    let mut letters = BTreeMap::new();
    for item in quiz().items.iter().filter(|item| !item.is_control) {
        for prompt in (0..PARAPHRASES).map(|wording| item.prompt(wording)) {
            let is_right = |letter: &&&str| prompt.read(letter) == QuizResponse::Choice(item.truth);
            letters
                .insert(prompt.text.clone(), *["A", "B", "C", "D"].iter().find(is_right).expect("a letter"));
        }
    }
    letters
}

fn question(body: &Value) -> &str {
    let messages = body["messages"].as_array().expect("messages");
    messages.last().and_then(|message| message["content"].as_str()).expect("a question")
}

/// A letter that depends on the question, and on nothing else.
fn guess(question: &str) -> &'static str {
    let choices = question.lines().filter(|line| line.get(1..3) == Some(") ")).count();
    ["A", "B", "C", "D"][usize::from(ContentHash::of(question.as_bytes()).as_bytes()[7]) % choices]
}

fn tool(server: &ModelServer) -> Tool {
    let provider =
        format!("[models.providers.test]\nkind = 'openai_compatible'\nbase_url = '{}'", server.url());
    Tool::new()
        .configured(&format!("{provider}\n[simulation]\nsummaries = false\nmemory = {{ mode = 'off' }}"))
}

/// A text without its line breaks.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn kinds(probe: &Value) -> &Vec<Value> {
    probe["report"]["kinds"].as_array().unwrap_or_else(|| panic!("no result: {probe}"))
}

fn words(probe: &Value) -> Vec<&str> {
    kinds(probe).iter().filter_map(|kind| kind["words"].as_str()).collect()
}

// Goal: a model that knows the items and guesses the controls is shown to recall, in the literal words, in JSON and in
// the table; every wording is one call at temperature 0, and showing the probe again calls nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_remembers_is_shown_to() {
    let letters = recalled();
    let server = ModelServer::answering(move |body| {
        let question = question(body);
        ScriptedAnswer::text(*letters.get(question).unwrap_or(&guess(question)))
    })
    .await;
    let tool = tool(&server);
    let probe = tool.json(&PROBE);
    assert_eq!(words(&probe), ["recall shown", "recall shown"]);
    assert_eq!((server.count(), server.repeats()), (CALLS, 0));
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.body["temperature"] == 0.0), "{}", requests[0].body);
    for kind in kinds(&probe) {
        assert_eq!(kind["items"]["accuracy"], 1.0, "{kind}");
        assert!(
            kind["interval"]["low"].as_f64() > Some(0.2) && kind["holm_p"].as_f64() < Some(0.01),
            "{kind}"
        );
        assert_eq!(kind["verdict"], "recall_shown");
    }
    assert_eq!(probe["report"]["controls"], "altered");
    assert_eq!(probe["training_cutoff"]["status"], "unknown");
    let job = probe["job_id"].as_str().expect("an ID");
    let shown = plain(&tool.ok(&["probe", "show", job]).out);
    assert!(shown.contains("recall shown") && shown.contains("unknown: it may have been trained"), "{shown}");
    assert!(shown.contains("only a counterfactual run"), "{shown}");
    assert_eq!(tool.json(&["probe", "show", job])["report"], probe["report"]);
    assert_eq!(server.count(), CALLS);
    // Its record is whole, and the list of jobs names its kind.
    tool.ok(&["verify", job]);
    assert!(tool.ok(&["jobs"]).out.contains("memory_probe"));
    let rejected = tool.ends(&["replay", job], 1).err;
    assert!(rejected.contains("papertape probe show"), "{rejected}");
}

// Goal: a model that guesses is not shown to recall, and the words say what would have been seen; never that it is clean.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_guesses_is_not() {
    let server = ModelServer::answering(|body| ScriptedAnswer::text(guess(question(body)))).await;
    let tool = tool(&server);
    let done = tool.ok(&PROBE);
    let out = plain(&done.out);
    assert!(out.contains("not shown (would have seen ≥ ") && !out.contains("clean"), "{done:#?}");
    assert!(done.err.contains("an estimate: 480 calls"), "{done:#?}");
    assert!(done.err.contains("unknown cost: the model has no price"), "{done:#?}");
}

// Goal: declined and malformed responses are counted apart and score as chance; a failed call counts as declined and is
// reported; a model that declines everything is not testable.
#[tokio::test(flavor = "multi_thread")]
async fn declined_items_are_counted_apart() {
    let failed = AtomicUsize::new(0);
    let server = ModelServer::answering(move |body| {
        let question = question(body);
        let malformed = ["I cannot answer that.", "A or B", "{\"letter\": 1}"][question.len() % 3];
        // In every wording of a question about an even year.
        if ["2002", "2004", "2006", "2008", "2010", "2012"].iter().any(|year| question.contains(year)) {
            ScriptedAnswer::text(malformed)
        } else if question.contains("2007") && failed.fetch_add(1, SeqCst) == 0 {
            ScriptedAnswer::error(400, "no")
        } else {
            ScriptedAnswer::text(guess(question))
        }
    })
    .await;
    let probe = tool(&server).json(&PROBE);
    let mut calls = 0;
    for kind in kinds(&probe) {
        for side in ["items", "controls"] {
            let score = |key: &str| kind[side][key].as_f64().expect("a number");
            let (correct, declined) = (score("correct"), score("declined"));
            assert!(declined > 8.0 && declined < 40.0, "{kind}");
            let chance = kind["chance"].as_f64().expect("a number");
            assert!((score("accuracy") - (correct + chance * declined) / 40.0).abs() < 1e-9, "{kind}");
        }
        calls += kind["failed_calls"].as_u64().expect("a number");
    }
    assert_eq!(calls, 1);

    let server = ModelServer::answering(|_| ScriptedAnswer::text("I will not guess.")).await;
    let probe = tool(&server).json(&PROBE);
    assert_eq!(words(&probe), ["not testable", "not testable"]);
    assert_eq!(kinds(&probe)[0]["items"]["declined"], 40);
}

// Goal: a provider that rejects every call stops the probe after its first item, with the provider's reason.
#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_request_stops_early() {
    let server = ModelServer::answering(|_| ScriptedAnswer::error(400, "unsupported_temperature")).await;
    let tool = tool(&server);
    let done = tool.ends(&PROBE, 1);
    assert!(done.err.contains("every call of the first item failed"), "{done:#?}");
    assert_eq!(server.count(), PARAPHRASES);
    let server = ModelServer::answering(|body| match body.get("temperature") {
        Some(_) => ScriptedAnswer::error(400, "unsupported_temperature"),
        None => ScriptedAnswer::text(guess(question(body))),
    })
    .await;
    let probe = self::tool(&server).json(&[&PROBE[..], &["--default-temperature"]].concat());
    assert_eq!((probe["temperature"].clone(), probe["status"].clone()), (Value::Null, json!("completed")));
}

// Goal: killed in the middle, a probe is resumed and repeats only the calls in flight; its result is the same as that of
// one that was never killed.
#[tokio::test(flavor = "multi_thread")]
async fn crash_a_killed_probe_repeats_no_paid_call() {
    let calm = ModelServer::answering(|body| ScriptedAnswer::text(guess(question(body)))).await;
    let expected = tool(&calm).json(&PROBE);

    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let server = ModelServer::answering(move |body| {
        let answer = ScriptedAnswer::text(guess(question(body)));
        if (100..102).contains(&counted.fetch_add(1, SeqCst)) { answer.held() } else { answer }
    })
    .await;
    let tool = tool(&server);
    let mut running = tool.start(&[&PROBE[..], &["--parallel", "2"]].concat());
    let line = running.until("runs; if it is interrupted");
    server.request(102).await;
    running.signal(Signal::KILL);
    drop(running);
    assert_eq!(server.count(), 102);
    let job = line.split_whitespace().nth(1).expect("an ID").to_owned();
    assert!(tool.ok(&["probe", "show", &job]).out.contains("no result yet"));
    let resumed = tool.json(&["resume", &job]);
    assert_eq!((server.count(), server.repeats()), (CALLS + 2, 2), "only the calls in flight are repeated");
    assert_eq!(resumed["report"], expected["report"]);
    assert_eq!(resumed["status"], "completed");
    tool.ok(&["verify", &job]);
}

// Goal: a budget stops a probe where it can be resumed, and a larger one completes it without repeating a call.
#[tokio::test(flavor = "multi_thread")]
async fn a_budget_stops_a_probe() {
    let server = ModelServer::answering(|body| ScriptedAnswer::text(guess(question(body)))).await;
    let tool = tool(&server);
    let done = tool.ends(&[&PROBE[..], &["--budget-tokens", "3000", "--max-tokens", "100"]].concat(), 3);
    assert!(done.err.contains("budget exhausted") && done.err.contains("exceeds the budget"), "{done:#?}");
    assert!(server.count() > 50 && server.count() < CALLS, "{}", server.count());
    let job =
        done.err.lines().find_map(|line| line.split("papertape resume ").nth(1)).expect("a hint").to_owned();
    let resumed = tool.json(&["resume", &job, "--budget-tokens", "1000000"]);
    assert_eq!((resumed["status"].clone(), server.count(), server.repeats()), (json!("completed"), CALLS, 0));
    let unpriced = tool.ends(&[&PROBE[..], &["--budget", "1"]].concat(), 2);
    assert!(unpriced.err.contains("requires a price"), "{unpriced:#?}");
}

// Goal: an estimate queues nothing; what cannot be probed is a usage error that says what to do.
#[test]
fn an_estimate_queues_nothing() {
    let tool = Tool::new();
    let house = ["probe", "memory", "--model", "house::momentum"];
    let estimate = tool.json(&[&house[..], &["--estimate"]].concat());
    let kinds: Vec<&str> = estimate["estimate"]["kinds"]
        .as_array()
        .expect("kinds")
        .iter()
        .map(|kind| kind["kind"].as_str().expect("a name"))
        .collect();
    assert_eq!(kinds, ["direction", "level", "date", "company"]);
    assert!(estimate["estimate"]["calls"].as_u64() > Some(5_000), "{estimate}");
    assert_eq!(estimate["estimate"]["cost_usd"], 0);
    assert_eq!(estimate["training_cutoff"], Value::Null, "a house model has none");
    assert!(!tool.ok(&["jobs"]).out.contains("memory_probe"));
    let wrong = tool.ends(&["probe", "memory", "--model", "none::x"], 2).err;
    assert!(wrong.contains("unknown provider `none`"), "{wrong}");
    let wrong = tool.ends(&[&house[..], &["--symbols", "ZZZ"]].concat(), 2).err;
    assert!(wrong.contains("unknown symbol `ZZZ`"), "{wrong}");
    let wrong = tool.ends(&[&house[..], &["--start", "2013-01-01"]].concat(), 2).err;
    assert!(wrong.contains("complete months"), "{wrong}");
    tool.ends(&["probe", "show", "nothing-here"], 4);
}

// Goal: the API queues, estimates and returns a probe; the house model answers all of it by guessing, for nothing.
#[tokio::test(flavor = "multi_thread")]
async fn the_api_runs_a_probe_of_the_house_model() {
    let world = World::empty().await;
    let body = json!({ "model": "house::momentum", "items": 40, "seed": 3 });
    let estimate = world.post("/probes/estimate", &body).await;
    assert_eq!(estimate.status, 200, "{}", estimate.text);
    let queued = world.post("/probes", &body).await;
    assert_eq!(queued.status, 202, "{}", queued.text);
    let queued = queued.json();
    assert_eq!(queued["estimate"], estimate.json()["estimate"]);
    let job = queued["job_id"].as_str().expect("an ID");
    let before = world.good(&format!("/probes/{job}")).await;
    assert_eq!((before["status"].clone(), before["report"].clone()), (json!("queued"), Value::Null));
    world.work(job).await;
    let probe = world.good(&format!("/probes/{job}")).await;
    assert_eq!((probe["status"].clone(), probe["is_llm"].clone()), (json!("completed"), json!(false)));
    assert_eq!(probe["usage"]["cost_usd"], 0);
    let words = words(&probe);
    assert!(words.iter().all(|words| words.starts_with("not shown")) && words.len() == 4, "{words:?}");
    let listed = world.good("/jobs?kind=memory_probe").await;
    assert_eq!(
        (listed["jobs"][0]["job_id"].clone(), listed["jobs"][0]["kind"].clone()),
        (json!(job), json!("memory_probe"))
    );
    assert_eq!(world.get("/probes/none").await.status, 404);
    let wrong = world.post("/probes", &json!({ "model": "house::momentum", "items": 0 })).await;
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    assert!(wrong.text.contains("items: 0 is out of range"), "{}", wrong.text);
}

// Goal: a result whose days lie before its model's stated training cut-off carries the warning, in JSON, in the table, per
// day and in a comparison; an unknown cut-off says so; the config overrides the table; rules have none.
#[tokio::test(flavor = "multi_thread")]
async fn results_warn_of_the_training_cutoff() {
    let server = ModelServer::answering(|_| ScriptedAnswer::text("Nothing today. <FINISH_SIGNAL>")).await;
    let provider =
        format!("[models.providers.test]\nkind = 'openai_compatible'\nbase_url = '{}'", server.url());
    let rest = "[simulation]\nsummaries = false\nmemory = { mode = 'off' }";
    let own = "[[models.cutoffs]]\nmodel = 'test::mine'\ndate = '2012-10-02'";
    let tool = Tool::new().configured(&format!("{provider}\n{own}\n{rest}"));
    let run = ["run", "--start", "2012-10-01", "--end", "2012-10-05", "--symbols", "IBM"];
    let models = ["test::gpt-4.1", "test::mine", "test::nobody", "house::buy_and_hold"];
    let args: Vec<&str> =
        run.into_iter().chain(models.into_iter().flat_map(|model| ["--model", model])).collect();
    let done = tool.ok(&args);
    let text = plain(&done.out);
    let known = "5 of 5 days lie before the stated training cut-off of test::gpt-4.1 (2024-06-01)";
    let configured = "2 of 5 days lie before the stated training cut-off of test::mine (2012-10-02)";
    let unknown = "the training cut-off of test::nobody is unknown: it may have been trained on these days";
    for warning in [known, configured, unknown] {
        assert!(text.contains(&format!("Warning: {warning}.")), "{warning}: {text}");
    }
    let results = tool.json(&["results", "latest"]);
    let of = |model: &str| {
        let all = results["results"].as_array().expect("results");
        all.iter().find(|result| result["model"] == model).expect("a result")["training_cutoffs"].clone()
    };
    assert_eq!(of("test::gpt-4.1")[0]["warning"], known);
    assert_eq!(of("test::gpt-4.1")[0]["source"], "https://developers.openai.com/api/docs/models/gpt-4.1");
    assert_eq!(
        (of("test::mine")[0]["source"].clone(), of("test::mine")[0]["days_before"].clone()),
        (json!("config"), json!(2))
    );
    assert_eq!(of("test::nobody")[0]["status"], "unknown");
    assert_eq!(of("house::buy_and_hold"), json!([]));
    let day = plain(&tool.ok(&["results", "latest", "--date", "2012-10-04"]).out);
    assert!(day.contains("1 of 1 days lie before the stated training cut-off of test::gpt-4.1"), "{day}");
    assert!(!day.contains("cut-off of test::mine"), "that day is after it: {day}");
    let trials = tool.ok(&[
        "run",
        "--start",
        "2012-10-01",
        "--end",
        "2012-10-03",
        "--symbols",
        "IBM",
        "--model",
        "test::mine",
        "--trials",
        "2",
    ]);
    let trials = plain(&trials.out);
    assert!(
        trials.contains("Warning: 2 of 3 days lie before the stated training cut-off of test::mine"),
        "{trials}"
    );
    let job = results["results"][0]["job_id"].as_str().expect("an ID");
    let compared = tool.run(&["compare", job, "baseline:buy_and_hold"]);
    assert!(compared.err.contains(known) && compared.err.contains(configured), "{compared:#?}");
}

/// The trading days of [`FUTURE`], each with whether IBM really rose over the next five.
fn foreseen() -> Vec<(String, bool)> {
    let dataset = bundled();
    let bars = dataset.contents().daily_bars(&Symbol::new("IBM"));
    let closes: Vec<_> =
        bars.iter().filter_map(|bar| Some((bar.date.to_string(), bar.rest?.close.0))).collect();
    let rises = closes.windows(6).map(|days| (days[0].0.clone(), days[5].1 > days[0].1));
    rises.filter(|(day, _)| ("2012-01-03".."2012-07-01").contains(&day.as_str())).collect()
}

const FUTURE: [&str; 12] = [
    "probe",
    "memory",
    "--counterfactual",
    "--start",
    "2012-01-03",
    "--end",
    "2012-06-29",
    "--symbols",
    "IBM",
    "--seed",
    "5",
    "--model",
];

// Goal: a model whose positions follow the real future, though its data show another one, is shown to recall; the score
// can be read again, and the past that it saw is the real one.
#[tokio::test(flavor = "multi_thread")]
async fn positions_that_follow_the_real_future_are_seen() {
    let days = foreseen();
    assert!(days.len() > 120, "{}", days.len());
    let server = ModelServer::answering(move |body| {
        let messages = body["messages"].as_array().expect("messages");
        let is_first = messages.iter().all(|message| message["role"] != "tool");
        let text = messages.iter().find(|message| message["role"] == "user").expect("a day").to_string();
        let today = days.iter().rposition(|(day, _)| text.contains(day.as_str()));
        let Some(today) = today.filter(|_| is_first) else {
            return ScriptedAnswer::text("Done. <FINISH_SIGNAL>");
        };
        let before = today.checked_sub(1).is_some_and(|before| days[before].1);
        match (before, days[today].1) {
            (false, true) => ScriptedAnswer::call("1", "buy", r#"{"symbol": "IBM", "quantity": 100}"#),
            (true, false) => ScriptedAnswer::call("1", "sell", r#"{"symbol": "IBM", "quantity": 100}"#),
            _ => ScriptedAnswer::text("Nothing to change. <FINISH_SIGNAL>"),
        }
    })
    .await;
    let tool = tool(&server);
    let found = tool.json(&[&FUTURE[..], &["test::quizzed"]].concat());
    let score = &found["agents"][0];
    assert_eq!(score["words"], "recall shown", "{found}");
    assert!(score["p_value"].as_f64() < Some(0.01) && score["days"].as_u64() > Some(100), "{score}");
    assert!(score["statistic"].as_f64() > score["detectable"].as_f64(), "{score}");
    assert_eq!(found["real_dataset"], "us-daily-2000-2013");
    let job = found["job_id"].as_str().expect("an ID");
    let count = server.count();
    assert_eq!(tool.json(&["probe", "show", job])["agents"], found["agents"]);
    assert_eq!(server.count(), count, "a score calls nothing");
    let shown = plain(&tool.ok(&["probe", "show", job]).out);
    assert!(shown.contains("recall shown") && shown.contains("test::quizzed is unknown"), "{shown}");
    // The job is an ordinary one on its own dataset: it is audited like any other.
    tool.ok(&["verify", job]);
    assert!(tool.ok(&["jobs", job]).out.contains("counterfactual-"));
}

// Goal: a rule that reads only the data is not shown to recall; a run on real data has no such score; the dates are
// required, and an estimate runs nothing.
#[test]
fn rules_on_a_resampled_future_show_nothing() {
    let tool = Tool::new();
    let run = [&FUTURE[..], &["house::momentum"]].concat();
    let estimate = tool.ok(&[&run[..], &["--estimate"]].concat());
    assert!(estimate.err.contains("0 calls"), "{estimate:#?}");
    assert!(!tool.ok(&["data", "list"]).out.contains("counterfactual-"));
    let done = tool.ok(&run);
    let out = plain(&done.out);
    assert!(out.contains("not shown (would have seen ≥ ") || out.contains("not testable"), "{done:#?}");
    assert!(!out.contains("recall shown") && out.contains("House models are rules"), "{done:#?}");
    assert!(tool.ok(&["data", "list"]).out.contains("counterfactual-"));
    tool.ok(&crate::cli_tool::SHORT);
    let real = tool.json(&["jobs", "latest"])["job_id"].as_str().expect("an ID").to_owned();
    let rejected = tool.ends(&["probe", "show", &real], 1).err;
    assert!(rejected.contains("is not a counterfactual dataset"), "{rejected}");
    tool.ends(&["probe", "memory", "--counterfactual", "--model", "house::momentum"], 2);
    let early = tool.ends(
        &[
            "probe",
            "memory",
            "--counterfactual",
            "--model",
            "house::momentum",
            "--start",
            "2000-03-02",
            "--end",
            "2000-06-30",
        ],
        2,
    );
    assert!(early.err.contains("60"), "{early:#?}");
}

//! Binance's klines: pages, resuming, limits, errors.

use crate::download_support::{Nobody, Stage, bars, json, plain, read, rows};
use papertape_market::download::{Ended, SourceName, State};
use papertape_market::import::{BarTime, ImportedRow, Source};
use papertape_testkit::model_server::{Broken, ScriptedAnswer};
use serde_json::{Value, json as value};

const NOW: &str = "2024-06-15T12:00:00Z";
const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;
/// 2024-06-01T00:00:00Z in milliseconds.
const JUNE: i64 = 1_717_200_000_000;

/// Klines of this length starting at `first`.
fn klines(first: i64, count: i64, length: i64) -> Value {
    let kline = |at: i64| {
        let opens = first + at * length;
        value!([
            opens,
            "67540.01000000",
            "67890.00000000",
            "67000.10000000",
            "67706.66000000",
            "123.45600000",
            opens + length - 1,
            "8350000.0",
            1000,
            "60.0",
            "4000000.0",
            "0"
        ])
    };
    (0..count).map(kline).collect()
}

fn invalid_symbol() -> ScriptedAnswer {
    json(value!({ "code": -1121, "msg": "Invalid symbol." })).status(400)
}

// Goal: pages are requested one after another from the end of the previous one, and a second download
// requests nothing that is stored and was complete.
#[tokio::test]
async fn pages_follow_one_another_and_are_asked_for_once() {
    let pages = [
        json(klines(JUNE, 1000, MINUTE)),
        json(klines(JUNE + 1000 * MINUTE, 1000, MINUTE)),
        json(klines(JUNE + 2000 * MINUTE, 1000, MINUTE)),
    ];
    let stage = Stage::new(SourceName::Binance, NOW, pages).await;
    let order = bars(&["btcusdt"], "2024-06-01", "2024-06-02", "1m");
    let report = stage.run(&order).await;
    assert!(report.is_complete(), "{report:?}");
    assert_eq!((report.requests, report.cached, report.symbols[0].rows), (3, 0, 3000));
    let ask = |start: i64| format!("/api/v3/klines?symbol=BTCUSDT&interval=1m&startTime={start}&limit=1000");
    assert_eq!(stage.asked(), [ask(JUNE), ask(JUNE + 1000 * MINUTE), ask(JUNE + 2000 * MINUTE)]);
    let again = stage.run(&order).await;
    assert_eq!((again.requests, again.cached, &again.symbols), (0, 3, &report.symbols));
    let plan = stage.downloader().plan(&order).expect("can be planned");
    assert_eq!((plan[0].cached, &plan[0].next_url), (3, &None));
    // With a later end, the download continues after the last full page.
    let more = stage.downloader().plan(&bars(&["BTCUSDT"], "2024-06-01", "2024-06-03", "1m")).expect("plan");
    assert!(
        more[0].next_url.as_ref().expect("asks").contains(&format!("startTime={}", JUNE + 3000 * MINUTE))
    );
}

// Goal: a download that is killed while it waits keeps its responses, leaves no partial file, and resumes after them.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_download_goes_on_where_it_was() {
    let pages = [json(klines(JUNE, 1000, MINUTE)), json(klines(JUNE + 1000 * MINUTE, 1000, MINUTE)).held()];
    let stage = Stage::new(SourceName::Binance, NOW, pages).await;
    let order = bars(&["BTCUSDT"], "2024-06-01", "2024-06-01", "1m");
    let mut downloader = stage.downloader();
    let task = tokio::spawn({
        let order = order.clone();
        async move { downloader.run(&order, &Nobody).await.map(|_| ()) }
    });
    stage.server.request(2).await;
    task.abort();
    assert!(task.await.expect_err("was killed").is_cancelled());
    stage.server.closed(2).await;
    assert_eq!(stage.files().len(), 2, "an answer, and what is known of it");
    stage.server.push(json(klines(JUNE + 1000 * MINUTE, 1000, MINUTE)));
    let report = stage.run(&order).await;
    assert_eq!((report.requests, report.cached, report.is_complete()), (1, 1, true));
    assert!(stage.asked()[2].contains(&format!("startTime={}", JUNE + 1000 * MINUTE)));
}

// Goal: a response that was truncated or changed on disk is requested again.
#[tokio::test]
async fn a_damaged_file_is_asked_for_again() {
    let page = || json(klines(JUNE, 3, DAY));
    let stage = Stage::new(SourceName::Binance, NOW, [page(), page(), page()]).await;
    let order = bars(&["BTCUSDT"], "2024-06-01", "2024-06-03", "1d");
    let path = stage.run(&order).await.symbols[0].files[0].clone();
    let whole = std::fs::read(&path).expect("is there");
    // Still a list of klines, but with other prices.
    let changed = String::from_utf8_lossy(&whole).replace("67890", "77890");
    std::fs::write(&path, changed).expect("can be written");
    assert_eq!(stage.run(&order).await.requests, 1);
    assert_eq!(std::fs::read(&path).expect("is there"), whole);
    std::fs::remove_file(path.with_file_name(".BTCUSDT-20240601T000000Z.json.about")).expect("was there");
    assert_eq!(stage.run(&order).await.requests, 1);
}

// Goal: requests are spaced as configured.
#[tokio::test]
async fn requests_keep_their_pace() {
    let page = || json(klines(JUNE, 1, DAY));
    let mut stage = Stage::new(SourceName::Binance, NOW, [page(), page(), page()]).await;
    stage.config.binance.requests_per_minute = 20;
    stage.run(&bars(&["A", "B", "C"], "2024-06-01", "2024-06-01", "1d")).await;
    assert_eq!(stage.clock.pauses(), [3.0, 3.0]);
}

// Goal: `Retry-After` is respected in both forms; a ban that lasts too long ends the download and lists what
// is missing; and near the minute's limit the download waits for the next minute.
#[tokio::test]
async fn limits_are_kept() {
    let busy = || json(value!({ "code": -1003, "msg": "Too many requests." })).status(429);
    let answers = [
        busy().header("Retry-After", "7"),
        busy()
            .header("Retry-After", "Sat, 15 Jun 2024 12:00:50 GMT")
            .header("Date", "Sat, 15 Jun 2024 12:00:20 GMT"),
        json(klines(JUNE, 1, DAY)).header("X-MBX-USED-WEIGHT-1M", "5900"),
        json(value!({ "code": -1003, "msg": "Way too many requests; IP banned." }))
            .status(418)
            .header("Retry-After", "7200"),
    ];
    let stage = Stage::new(SourceName::Binance, NOW, answers).await;
    let report = stage.run(&bars(&["A", "B", "C"], "2024-06-01", "2024-06-01", "1d")).await;
    assert_eq!(stage.clock.pauses(), [7.0, 30.0, 60.0]);
    let states: Vec<State> = report.symbols.iter().map(|one| one.state).collect();
    assert_eq!(states, [State::Complete, State::Missing, State::Missing]);
    let Some(ended @ Ended::Busy { pause_secs: 7200, .. }) = &report.ended else { panic!("{report:?}") };
    assert!(ended.is_resumable() && ended.to_string().contains("IP banned"), "{ended}");
}

// Goal: one unknown symbol does not affect the others.
#[tokio::test]
async fn an_unknown_symbol_does_not_lose_the_others() {
    let answers = [json(klines(JUNE, 1, DAY)), invalid_symbol(), json(klines(JUNE, 1, DAY))];
    let stage = Stage::new(SourceName::Binance, NOW, answers).await;
    let report = stage.run(&bars(&["A", "NOPE", "C"], "2024-06-01", "2024-06-01", "1d")).await;
    let states: Vec<State> = report.symbols.iter().map(|one| one.state).collect();
    assert_eq!(states, [State::Complete, State::Unknown, State::Complete]);
    assert_eq!(report.symbols[1].reason.as_deref(), Some("-1121: Invalid symbol."));
    assert!(!report.is_complete() && report.ended.is_none());
}

// Goal: a response that is truncated, broken or in another format is requested again with growing pauses, and
// given up after five attempts without storing any of it.
#[tokio::test]
async fn broken_answers_are_asked_for_again() {
    let text = klines(JUNE, 2, DAY).to_string();
    let broken = || {
        [
            json(&text[..text.len() / 2]),
            json(&text).broken(Broken::Cut),
            plain("<html>maintenance</html>"),
            json(value!([[1, 2, 3]])),
        ]
    };
    let good = [json(&text)];
    let stage = Stage::new(SourceName::Binance, NOW, broken().into_iter().chain(good)).await;
    let order = bars(&["BTCUSDT"], "2024-06-01", "2024-06-02", "1d");
    let report = stage.run(&order).await;
    assert!(report.is_complete() && report.requests == 5, "{report:?}");
    assert_eq!(stage.clock.pauses(), [1.0, 2.0, 4.0, 8.0]);

    let stage = Stage::new(SourceName::Binance, NOW, broken().into_iter().chain([json("")])).await;
    let report = stage.run(&order).await;
    assert_eq!((report.symbols[0].state, report.requests), (State::Failed, 5), "{report:?}");
    assert!(stage.files().is_empty());
}

// Goal: a bar that was incomplete at the time of the request has only its open, whenever its file is read,
// and is requested again.
#[tokio::test]
async fn a_bar_that_is_not_over_gives_its_open_alone() {
    let answers = [json(klines(JUNE, 15, DAY)), json(klines(JUNE, 16, DAY))];
    let stage = Stage::new(SourceName::Binance, NOW, answers).await;
    let order = bars(&["BTCUSDT"], "2024-06-01", "2024-06-15", "1d");
    let report = stage.run(&order).await;
    assert!(report.symbols[0].notes[0].contains("only its open"), "{report:?}");
    let open_alone = |path: &std::path::Path| -> Vec<bool> {
        let is_open = |row: Result<ImportedRow, String>| match row.expect("is a row") {
            ImportedRow::Bar(bar) => bar.rest.is_none(),
            other => panic!("{other:?}"),
        };
        rows("binance-klines", path).into_iter().map(is_open).collect()
    };
    let path = &report.symbols[0].files[0];
    assert_eq!(open_alone(path), [[false; 14].as_slice(), &[true]].concat());
    stage.clock.pass(std::time::Duration::from_secs(86_400));
    assert!(open_alone(path)[14], "the file does not change with time");
    let again = stage.run(&order).await;
    assert_eq!((again.requests, open_alone(path)[14]), (1, false));
    assert_eq!(stage.run(&order).await.requests, 0);
}

// Goal: an empty response is neither a failure nor a file to import.
#[tokio::test]
async fn nothing_at_all_is_an_answer() {
    let stage = Stage::new(SourceName::Binance, NOW, [json("[]")]).await;
    let report = stage.run(&bars(&["BTCUSDT"], "2024-06-01", "2024-06-02", "1d")).await;
    assert!(report.is_complete());
    assert_eq!((report.symbols[0].rows, report.symbols[0].files.len()), (0, 0));
    assert!(stage.downloader().plan(&bars(&["BTCUSDT"], "2024-06-01", "2024-06-02", "1d")).is_ok());
}

// Goal: stored responses are read with symbols from the names, days in UTC, exact prices, and locations of
// unreadable rows.
#[test]
fn klines_are_read_as_they_stand() {
    let text = klines(JUNE, 2, DAY).to_string();
    let source = Source::bytes("saved/ETHUSDT-2024.json", text.clone());
    let rows = read("binance-klines", &source).expect("is of use");
    let Ok(ImportedRow::Bar(bar)) = &rows[0] else { panic!("{rows:?}") };
    assert_eq!((bar.symbol.as_str(), bar.at), ("ETHUSDT", BarTime::Day("2024-06-01".parse().expect("date"))));
    assert_eq!(bar.open.0.to_string(), "67540.01000000");
    assert_eq!(bar.rest.expect("was over").volume.0.to_string(), "123.45600000");
    // Nothing says whether the newest bar of a file from elsewhere was complete.
    assert!(matches!(&rows[1], Ok(ImportedRow::Bar(bar)) if bar.rest.is_none()));
    let mut broken = klines(JUNE, 3, MINUTE);
    broken[1][4] = value!("n/a");
    let rows = read("binance-klines", &Source::bytes("X-1.json", broken.to_string())).expect("is of use");
    assert!(matches!(&rows[0], Ok(ImportedRow::Bar(bar)) if matches!(bar.at, BarTime::Within { .. })));
    assert_eq!(rows[1].as_ref().expect_err("is broken"), "$[1]: close: `n/a` is not a number");
    let cut = read("binance-klines", &Source::bytes("X-1.json", &text.as_bytes()[..200]));
    assert!(cut.expect_err("is cut").to_string().contains("JSON"));
}

//! `papertape data download`: from a source over HTTP to a dataset, its exit codes, and the key.

use crate::cli_tool::Tool;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use rustix::process::Signal;
use serde_json::{Value, json};

const KEY: &str = "K3Y-secret-of-mine";
const JUNE: i64 = 1_717_200_000_000;
const DAY: i64 = 86_400_000;
const BTC: [&str; 11] = [
    "data",
    "download",
    "binance",
    "--symbols",
    "BTCUSDT",
    "--from",
    "2024-06-01",
    "--to",
    "2024-06-03",
    "--name",
    "btc",
];

fn tool(server: &ModelServer) -> Tool {
    let source = |name: &str| {
        format!("[download.{name}]\nbase_url = '{}'\nrequests_per_minute = 60000\n", server.url())
    };
    Tool::new().configured(&["alpha_vantage", "binance", "stooq", "yahoo"].map(source).concat())
}

fn answer(body: &Value) -> ScriptedAnswer {
    ScriptedAnswer::raw("application/json", body.to_string())
}

fn klines(days: i64) -> ScriptedAnswer {
    let kline = |at: i64| {
        let opens = JUNE + at * DAY;
        json!([opens, "100.5", "110", "90", "105", "12.5", opens + DAY - 1, "0", 1, "0", "0", "0"])
    };
    answer(&(0..days).map(kline).collect())
}

// Goal: a download results in a dataset with exactly the requested days; the same command again requests
// nothing and changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_download_creates_a_dataset() {
    let server = ModelServer::scripted([klines(10)]).await;
    let tool = tool(&server);
    let made = tool.json(&BTC);
    let dataset = &made["dataset"];
    assert_eq!((&dataset["days"], &dataset["bars"]), (&json!(3), &json!(3)), "{made:#}");
    assert_eq!((&dataset["name"], &dataset["imported"]), (&json!("btc"), &json!(true)));
    let again = tool.json(&BTC);
    assert_eq!((server.count(), &again["downloads"][0]["cached"]), (1, &json!(1)));
    assert_eq!(again["dataset"]["imported"], false);
    assert_eq!(again["dataset"]["hash"], dataset["hash"]);
    let dry = tool.ok(&[BTC.as_slice(), &["--dry-run"]].concat());
    assert!(dry.out.contains("none: complete"), "{dry:#?}");
}

// Goal: prices that Yahoo has divided by splits are in the dataset as traded, with the splits, however late
// the split came.
#[tokio::test(flavor = "multi_thread")]
async fn a_dataset_from_yahoo_is_as_traded() {
    let second = |at: &str| at.parse::<jiff::Timestamp>().expect("is an instant").as_second();
    let price = [25.0, 12.5, 13.0];
    let times = ["2012-06-06T13:30:00Z", "2012-06-07T13:30:00Z", "2012-06-08T13:30:00Z"].map(second);
    let chart = json!({ "chart": { "error": null, "result": [{
        "meta": { "symbol": "X", "currency": "USD", "exchangeTimezoneName": "America/New_York",
            "dataGranularity": "1d", "regularMarketTime": second("2012-06-08T20:00:01Z") },
        "timestamp": times,
        "events": { "splits": { "1": { "date": second("2012-06-07T13:30:00Z"), "numerator": 2.0,
            "denominator": 1.0 } } },
        "indicators": { "quote": [{ "open": price, "high": price, "low": price, "close": price,
            "volume": [100, 200, 300] }], "adjclose": [{ "adjclose": [1.0, 2.0, 3.0] }] },
    }] } });
    let server = ModelServer::scripted([answer(&chart)]).await;
    let tool = tool(&server);
    let args = ["data", "download", "yahoo", "--symbols", "X", "--from", "2012-06-06", "--to", "2012-06-07"];
    tool.ok(&[args.as_slice(), &["--name", "x"]].concat());
    let dataset = papertape_market::Catalogue::at(tool.path("data/datasets")).open("x").expect("is there");
    assert_eq!((dataset.days().len(), dataset.bar_count()), (2, 2), "the day after the order is left out");
    let at = |instant: &str| dataset.view(instant.parse().expect("is an instant"));
    let symbol = "X".into();
    let price = |instant: &str| {
        at(instant).bars(&symbol, papertape_core::market::BarRange::default()).expect("is known").value
    };
    let closes: Vec<String> = price("2012-06-06T21:00:00Z").iter().map(|bar| bar.close.to_string()).collect();
    assert_eq!(closes, ["50"], "before the split nobody could know of it");
}

// Goal: a symbol that the source does not know is reported with exit code 1, and the others are in the
// dataset; an exhausted quota is reported with what is missing and exit code 3, and creates no dataset.
#[tokio::test(flavor = "multi_thread")]
async fn missing_symbols_are_reported() {
    let unknown = answer(&json!({ "code": -1121, "msg": "Invalid symbol." })).status(400);
    let server = ModelServer::scripted([klines(3), unknown]).await;
    let tool = tool(&server);
    let args = ["data", "download", "binance", "--symbols", "BTCUSDT,NOPE", "--from", "2024-06-01"];
    let done = tool.ends(&[args.as_slice(), &["--to", "2024-06-03", "--name", "two"]].concat(), 1);
    assert!(done.out.contains("Invalid symbol") && done.out.contains("two "), "{done:#?}");

    server.push(ScriptedAnswer::raw("text/plain", "Exceeded the daily hits limit"));
    let args = ["data", "download", "stooq", "--symbols", "AAPL,IBM", "--from", "2024-06-03"];
    let done = tool.ends(&[args.as_slice(), &["--to", "2024-06-07", "--name", "late"]].concat(), 3);
    assert!(done.err.contains("still missing: AAPL, IBM"), "{done:#?}");
    assert!(done.err.contains("run the same command again"), "{done:#?}");
    assert!(!tool.path("data/datasets").join("late").exists());
}

// Goal: Ctrl-C stops at once, with exit code 3; the same command resumes after what is stored.
#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_preserves_stored_responses() {
    let server = ModelServer::scripted([klines(3), klines(3).held(), klines(3)]).await;
    let tool = tool(&server);
    let args = ["data", "download", "binance", "--symbols", "AAA,BBB", "--from", "2024-06-01", "--to"];
    let args = [args.as_slice(), &["2024-06-03", "--name", "two"]].concat();
    let running = tool.start(&args);
    server.request(2).await;
    running.signal(Signal::INT);
    let ended = running.end();
    assert_eq!(ended.code, 3, "{ended:#?}");
    assert!(ended.err.contains("run the same command again"), "{ended:#?}");
    let made = tool.json(&args);
    assert_eq!((server.count(), &made["dataset"]["symbols"]), (3, &json!(2)), "{made:#}");
}

// Goal: the key comes from the environment or a file named there, goes to the source, and appears nowhere
// else: neither in the most verbose output nor in a file of the data directory.
#[tokio::test(flavor = "multi_thread")]
async fn the_key_is_never_printed() {
    let refusal = json!({ "Information": format!("We have detected your API key as {KEY} and our standard \
        API rate limit is 25 requests per day.") });
    let server = ModelServer::scripted([answer(&refusal)]).await;
    let args = ["data", "download", "alpha-vantage", "--symbols", "IBM", "--from", "2012-06-06", "--to"];
    let args = [args.as_slice(), &["2012-06-07", "--name", "ibm", "-vv"]].concat();
    let missing = tool(&server).ends(&args, 2);
    assert!(missing.err.contains("ALPHAVANTAGE_API_KEY_FILE"), "{missing:#?}");
    let tool = tool(&server).with("ALPHAVANTAGE_API_KEY_FILE", "key");
    std::fs::write(tool.path("key"), format!("{KEY}\n")).expect("can be written");
    let done = tool.ends(&args, 3);
    assert!(done.err.contains("detected your API key as ***"), "{done:#?}");
    assert!(!format!("{done:?}").contains(KEY), "{done:#?}");
    assert!(server.requests()[0].path.contains(&format!("apikey={KEY}")));
    let dry = tool.ok(&[args.as_slice(), &["--dry-run"]].concat());
    assert!(dry.out.contains("TIME_SERIES_DAILY") && !format!("{dry:?}").contains(KEY), "{dry:#?}");
}

// Goal: an impossible download is rejected before any request.
#[tokio::test(flavor = "multi_thread")]
async fn impossible_requests_are_rejected() {
    let server = ModelServer::scripted([]).await;
    let tool = tool(&server);
    let refused = |more: &[&str], why: &str| {
        let args = ["data", "download", "binance", "--symbols", "BTCUSDT", "--from", "2024-06-05"];
        let done = tool.ends(&[args.as_slice(), more].concat(), 2);
        assert!(done.err.contains(why), "{done:#?}");
    };
    refused(&["--to", "2024-06-01", "--name", "x"], "comes before the first");
    refused(&["--to", "2024-06-06"], "--name");
    refused(&["--to", "2024-06-06", "--name", "x", "--news"], "has no news");
    refused(&["--to", "2024-06-06", "--name", "x", "--interval", "3m"], "use --no-import");
    refused(&["--to", "2024-06-06", "--name", "x", "--interval", "7m"], "a dataset cannot hold");
    refused(&["--to", "2024-06-06", "--name", "../x"], "--name");
    assert_eq!(server.count(), 0);
}

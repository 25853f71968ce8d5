//! Alpha Vantage: requests, its messages, the key, news.

use crate::download_support::{KEY, Stage, bars, json, order, read, rows};
use papertape_market::download::{BarInterval, DataKind, DownloadRequest, Ended, SourceName, State};
use papertape_market::import::{ImportedRow, Source};
use papertape_testkit::model_server::ScriptedAnswer;
use serde_json::{Value, json as value};

const NOW: &str = "2024-06-14T15:00:00Z";

fn daily(days: &[&str]) -> Value {
    let bar = value!({ "1. open": "1", "2. high": "2", "3. low": "1", "4. close": "2", "5. volume": "9" });
    let series: serde_json::Map<String, Value> =
        days.iter().map(|day| ((*day).to_owned(), bar.clone())).collect();
    value!({ "Meta Data": { "2. Symbol": "IBM" }, "Time Series (Daily)": series })
}

fn says(name: &str, said: &str) -> ScriptedAnswer {
    json(value!({ name: said }))
}

async fn stage(answers: impl IntoIterator<Item = ScriptedAnswer>) -> Stage {
    Stage::new(SourceName::AlphaVantage, NOW, answers).await
}

fn news_order(symbols: &[&str], from: &str, to: &str) -> DownloadRequest {
    order(symbols, from, to, DataKind::News)
}

fn item(time: &str, number: usize, tickers: &[&str]) -> Value {
    let tickers: Vec<Value> = tickers.iter().map(|ticker| value!({ "ticker": ticker })).collect();
    value!({
        "title": format!("Headline {number}"), "url": format!("https://example.com/{number}"),
        "time_published": time, "summary": "What happened.", "source": "Example",
        "overall_sentiment_score": 0.3, "ticker_sentiment": tickers,
    })
}

fn feed(items: &[Value]) -> Value {
    value!({ "items": items.len().to_string(), "sentiment_score_definition": "x", "feed": items })
}

// Goal: each kind of bars has its own request: compact and full daily series, with actions, and minutes by
// month as traded.
#[tokio::test]
async fn questions_have_their_forms() {
    let month =
        |day: &str| json(value!({ "Meta Data": {}, "Time Series (60min)": { (day): { "1. open": "1" } } }));
    let answers = [
        json(daily(&["2024-06-13"])),
        json(daily(&["2012-06-13"])),
        json(daily(&["2012-06-13"])),
        month("2024-04-30 15:00:00"),
        month("2024-05-31 15:00:00"),
    ];
    let stage = stage(answers).await;
    stage.run(&bars(&["IBM"], "2024-06-01", "2024-06-13", "1d")).await;
    stage.run(&bars(&["IBM"], "2012-06-01", "2012-06-13", "1d")).await;
    let adjusted = DataKind::Bars { interval: BarInterval::Day, actions: true };
    stage.run(&order(&["IBM"], "2012-06-01", "2012-06-13", adjusted)).await;
    let report = stage.run(&bars(&["IBM"], "2024-04-10", "2024-05-20", "1h")).await;
    assert!(report.is_complete(), "{report:?}");
    let key = "&apikey=K3Y%2Bsecret%2Fof%3Dmine";
    let minutes = "function=TIME_SERIES_INTRADAY&symbol=IBM&interval=60min&month";
    let raw = "outputsize=full&adjusted=false&extended_hours=false";
    let expected = [
        "function=TIME_SERIES_DAILY&symbol=IBM&outputsize=compact".to_owned(),
        "function=TIME_SERIES_DAILY&symbol=IBM&outputsize=full".to_owned(),
        "function=TIME_SERIES_DAILY_ADJUSTED&symbol=IBM&outputsize=full".to_owned(),
        format!("{minutes}=2024-04&{raw}"),
        format!("{minutes}=2024-05&{raw}"),
    ];
    assert_eq!(stage.asked(), expected.map(|query| format!("/query?{query}{key}")));
    // Whatever days are requested next, the full response contains them.
    assert_eq!(stage.run(&bars(&["IBM"], "2010-06-01", "2011-06-13", "1d")).await.requests, 0);
}

// Goal: a message about minutes or seconds causes a wait; one about the day ends the download, which can be
// resumed later; one about another plan ends it too; a wrong symbol does not.
#[tokio::test]
async fn its_sentences_are_understood() {
    let answers = [
        says(
            "Note",
            "Thank you! Our standard API call frequency is 5 calls per minute and 500 calls per day.",
        ),
        says(
            "Information",
            "Please consider spreading out your free API requests more sparingly \
            (1 request per second) or lift the free key rate limit (25 requests per day).",
        ),
        json(daily(&["2024-06-13"])),
        says(
            "Error Message",
            "Invalid API call. Please retry or visit the documentation for TIME_SERIES_DAILY.",
        ),
        says(
            "Information",
            "We have detected your API key as K3Y+secret/of=mine and our standard API rate \
            limit is 25 requests per day.",
        ),
    ];
    let stage = stage(answers).await;
    let order = bars(&["A", "NOPE", "C", "D"], "2024-06-01", "2024-06-13", "1d");
    let report = stage.run(&order).await;
    assert_eq!(stage.clock.pauses(), [60.0, 2.0]);
    let states: Vec<State> = report.symbols.iter().map(|one| one.state).collect();
    assert_eq!(states, [State::Complete, State::Unknown, State::Missing, State::Missing], "{report:?}");
    let Some(Ended::Quota(said)) = &report.ended else { panic!("{report:?}") };
    assert!(said.contains("detected your API key as *** and"), "{said}");
    // The next day the download resumes with the missing symbols.
    for _ in 0..3 {
        stage.server.push(json(daily(&["2024-06-13"])));
    }
    let report = stage.run(&order).await;
    assert_eq!((report.requests, report.cached, report.is_complete()), (3, 1, true));

    let premium =
        says("Information", "Thank you! This is a premium endpoint. You may subscribe to any plan.");
    let stage = self::stage([premium]).await;
    let report = stage.run(&order).await;
    let Some(ended @ Ended::Denied(_)) = &report.ended else { panic!("{report:?}") };
    assert!(!ended.is_resumable());
}

// Goal: the key is sent to the source and nowhere else: no report, plan, file or file name contains it, even
// if the source repeats it in data.
#[tokio::test]
async fn the_key_is_told_to_nobody_else() {
    let mut data = daily(&["2024-06-13"]);
    data["Meta Data"]["1. Information"] = value!(format!("for {KEY}"));
    let answers =
        [json(data), says("Error Message", &format!("the parameter apikey={KEY} is invalid or missing"))];
    let stage = stage(answers).await;
    let order = bars(&["A", "B"], "2024-06-01", "2024-06-13", "1d");
    let plan = stage.downloader().plan(&order).expect("can be planned");
    let report = stage.run(&order).await;
    assert!(matches!(report.ended, Some(Ended::Denied(_))), "{report:?}");
    let mut told = format!("{plan:?}{report:?}");
    told.push_str(&serde_json::to_string(&(plan, report)).expect("is JSON"));
    for (name, content) in stage.files() {
        told.push_str(&format!("{}{}", name.display(), String::from_utf8_lossy(&content)));
    }
    assert!(told.contains("for ***") && told.contains("TIME_SERIES_DAILY"), "{told}");
    for secret in [KEY, "K3Y%2Bsecret%2Fof%3Dmine", "secret"] {
        assert!(!told.contains(secret), "{told}");
    }
    assert!(stage.asked().iter().all(|path| path.contains("apikey=K3Y%2Bsecret%2Fof%3Dmine")));
}

// Goal: news are requested oldest first, each page from the newest minute of the previous one, and a response
// without news is valid.
#[tokio::test]
async fn news_come_page_by_page() {
    let first: Vec<Value> =
        (0..1000).map(|n| item(&format!("20240601T{:02}{:02}00", n / 60, n % 60), n, &["AAPL"])).collect();
    let second = [item("20240601T163900", 999, &["AAPL"]), item("20240602T090000", 1000, &["AAPL", "MSFT"])];
    let none = says("Information", "No articles found. Please adjust the time range or refer to the docs.");
    let stage = stage([json(feed(&first)), json(feed(&second)), none]).await;
    let order = news_order(&["AAPL", "MSFT"], "2024-06-01", "2024-06-02");
    let report = stage.run(&order).await;
    assert!(report.is_complete() && report.format == "alpha-vantage-news", "{report:?}");
    let asked = stage.asked();
    let ask = "/query?function=NEWS_SENTIMENT&tickers=AAPL&time_from=";
    assert!(
        asked[0].starts_with(&format!("{ask}20240601T0000&time_to=20240602T2359&sort=EARLIEST&limit=1000"))
    );
    assert!(asked[1].starts_with(&format!("{ask}20240601T1639&time_to=")), "{asked:?}");
    assert_eq!((asked.len(), report.symbols[1].files.len()), (3, 0));
    assert_eq!(stage.run(&order).await.requests, 0);
    let rows = rows("alpha-vantage-news", &report.symbols[0].files[1]);
    let Ok(ImportedRow::News { published_at: Some(at), item }) = &rows[1] else { panic!("{rows:?}") };
    assert_eq!(at.to_string(), "2024-06-02T09:00:00Z");
    let symbols: Vec<&str> = item.symbols.iter().map(|symbol| symbol.as_str()).collect();
    assert_eq!((symbols, item.headline.as_str()), (vec!["AAPL", "MSFT"], "Headline 1000"));
}

// Goal: more news within a minute than fit on a page are reported and do not stop the download.
#[tokio::test]
async fn a_minute_fuller_than_a_page_is_told() {
    let full: Vec<Value> = (0..1000).map(|n| item("20240601T000030", n, &["AAPL"])).collect();
    let stage = stage([json(feed(&full)), json(feed(&[]))]).await;
    let report = stage.run(&news_order(&["AAPL"], "2024-06-01", "2024-06-01")).await;
    assert!(report.is_complete() && report.symbols[0].notes[0].contains("some are missing"), "{report:?}");
    assert!(stage.asked()[1].contains("time_from=20240601T0001"), "{:?}", stage.asked());
}

// Goal: an item has the same ID under every symbol; items without a date or title are rejected with their
// location; sentiments are not imported.
#[test]
fn news_are_read_as_they_stand() {
    let mut undated = item("yesterday", 2, &[]);
    let untitled = value!({ "time_published": "20240601T000000" });
    undated["url"] = Value::Null;
    let body = feed(&[item("20240601T0130", 1, &["MSFT", "AAPL", "MSFT"]), undated, untitled]);
    let rows = read("alpha-vantage-news", &Source::bytes("x.json", body.to_string())).expect("is of use");
    let Ok(ImportedRow::News { item, .. }) = &rows[0] else { panic!("{rows:?}") };
    assert!(item.id.starts_with("av-") && item.symbols.len() == 2, "{item:?}");
    assert!(!format!("{item:?}").contains("0.3"));
    let refused: Vec<&String> = rows.iter().filter_map(|row| row.as_ref().err()).collect();
    let expected = ["$.feed[1]: time_published: `yesterday` is not a time", "$.feed[2]: it has no `title`"];
    assert_eq!(refused, expected);
}

// Goal: a source gets no request for data that it does not have, or without the key that it requires.
#[tokio::test]
async fn what_cannot_be_had_is_said_at_once() {
    let stage = stage([]).await;
    let refused =
        |order: &DownloadRequest| stage.downloader().plan(order).expect_err("is refused").to_string();
    assert!(refused(&bars(&["A"], "2024-06-01", "2024-06-02", "4h")).contains("1m, 5m, 15m, 30m, 1h"));
    let minutes = DataKind::Bars { interval: BarInterval::Minutes(60), actions: true };
    assert!(refused(&order(&["A"], "2024-06-01", "2024-06-02", minutes)).contains("only with daily bars"));
    let clock = std::sync::Arc::new(stage.clock.clone());
    let without = papertape_market::download::Downloader::new(
        SourceName::AlphaVantage,
        &stage.config,
        None,
        stage.dir.path(),
        clock,
    );
    let message = without.err().expect("is rejected").to_string();
    assert!(message.contains("key"), "{message}");
    assert_eq!(stage.server.count(), 0);
}

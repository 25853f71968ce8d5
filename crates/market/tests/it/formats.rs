//! Each format yields what its file contains, and an invalid row is rejected with file, line and reason.

use crate::support::{bars, files, lenient, options, refusals, strict};
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::BarRange;
use papertape_market::import::{Basis, ImportError, ImportOptions, Source};
use std::io::Write as _;

const YAHOO: &str = "Date,Open,High,Low,Close,Adj Close,Volume\n\
    2020-08-27,127.142502,127.485001,123.832497,125.010002,122.8,155552400\n\
    2020-08-28,126.012497,126.442497,124.577499,124.807503,122.6,187630000\n\
    2020-08-31,127.580002,131.000000,126.000000,129.039993,126.8,225702700\n";
const SPLIT: &str = "symbol,ex_date,kind,value\nAAPL,2020-08-31,split,4\n";

// Goal: the prices of a file with Yahoo's columns are restored with the given splits: those before the split
// are in the shares of their time.
#[test]
fn yahoo_is_turned_back_by_its_splits() {
    let imported = strict(&files(&[("AAPL.csv", YAHOO), ("splits.csv", SPLIT)]), &options("x")).expect("it");
    assert_eq!(
        bars(&imported.dataset),
        [
            "AAPL 2020-08-27 508.57 509.94 495.33 500.04 38888100",
            "AAPL 2020-08-28 504.05 505.77 498.31 499.23 46907500",
            "AAPL 2020-08-31 127.58 131 126 129.04 225702700",
        ]
    );
    let view = imported.dataset.view(imported.dataset.days()[2].open);
    let seen = view.bars(&"AAPL".into(), BarRange::newest(1)).expect("bars").value;
    assert_eq!(seen[0].close.to_string(), "124.8075", "in the shares of after the split");
}

// Goal: without a split list such a file is rejected, once, with advice; declaring that there was no split,
// or that prices are as traded, makes it acceptable.
#[test]
fn adjusted_prices_without_splits_are_refused() {
    let alone = files(&[("AAPL.csv", YAHOO)]);
    let told = refusals(&alone, &options("x"));
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("AAPL.csv, line 2: its prices are adjusted for splits"), "{told:?}");
    assert!(told[0].contains("splits_complete") && told[0].contains("--prices as-traded"), "{told:?}");
    let none =
        files(&[("AAPL.csv", YAHOO), ("a.csv", "symbol,ex_date,kind,value\nAAPL,,splits_complete,\n")]);
    assert_eq!(
        bars(&strict(&none, &options("x")).expect("it").dataset)[0],
        "AAPL 2020-08-27 127.1425 127.485 123.8325 125.01 155552400"
    );
    let as_traded = ImportOptions { basis: Some(Basis::AsTraded), ..options("x") };
    assert!(bars(&strict(&alone, &as_traded).expect("it").dataset)[0].contains("127.142502"));
}

// Goal: adjusted closes adjust nothing, but reveal a missing dividend.
#[test]
fn adjusted_closes_check_dividends() {
    let text = "Date,Open,High,Low,Close,Adj Close,Volume\n2024-01-02,10,10,10,10,9.9,1\n2024-01-03,10,10,10,10,10,1\n";
    let none = ("a.csv", "symbol,ex_date,kind,value\nIBM,,splits_complete,\n");
    let imported = strict(&files(&[("IBM.csv", text), none]), &options("x")).expect("it");
    assert_eq!(
        imported.report.notes,
        ["IBM: adjusted closes show dividends that are not given: 1 (2024-01-03)"]
    );
    let given = ("a.csv", "symbol,ex_date,kind,value\nIBM,,splits_complete,\nIBM,2024-01-03,dividend,0.1\n");
    assert!(strict(&files(&[("IBM.csv", text), given]), &options("x")).expect("it").report.notes.is_empty());
}

// Goal: Stooq's bulk columns are read, with days and with minutes, semicolons, a byte order mark and CRLF.
#[test]
fn stooq_and_spellings_of_tables() {
    let stooq = "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\r\n\
        IBM.US,D,20240102,000000,160,162,159,161,1000,0\r\nIBM.US,D,20240103,000000,161,163,160,162,1100,0\r\n";
    let as_traded = ImportOptions { basis: Some(Basis::AsTraded), ..options("x") };
    let one = strict(&files(&[("ibm.us.txt", stooq)]), &as_traded).expect("it").dataset;
    assert_eq!(bars(&one), ["IBM 2024-01-02 160 162 159 161 1000", "IBM 2024-01-03 161 163 160 162 1100"]);
    let plain = "\u{feff}Date;Open;High;Low;Close;Volume\r\n2024-01-02;160;162;159;161;1000\r\n\r\n2024-01-03;161.0;163;160;162;1100\r\n";
    let two = strict(&files(&[("ibm.csv", plain)]), &options("x")).expect("it").dataset;
    assert_eq!(two.hash(), one.hash(), "the spelling does not show");
    let minutes = "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\n\
        IBM.US,5,20240102,093000,160,162,159,161,1000,0\nIBM.US,5,20240102,093500,161,163,160,162,1100,0\n";
    let three = strict(&files(&[("ibm.us.txt", minutes)]), &as_traded).expect("it").dataset;
    assert_eq!((three.bar_count(), three.intraday_bars()), (1, 2));
    let view = three.view(three.days()[0].close);
    let day = view.today_bar(&"IBM".into()).expect("made of the bars within").value;
    assert_eq!([day.open, day.high, day.low, day.close].map(|p| p.to_string()), ["160", "163", "159", "162"]);
    assert_eq!(day.volume.to_string(), "2100");
}

// Goal: a compressed file is decompressed; a truncated one is rejected.
#[test]
fn gzip_is_unpacked() {
    let text = "date,open,high,low,close,volume\n2024-01-02,1,2,1,2,5\n";
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(text.as_bytes()).expect("packs");
    let bytes = packer.finish().expect("packs");
    let whole = strict(&[Source::bytes("ABC.csv.gz", bytes.clone())], &options("x")).expect("it");
    assert_eq!(bars(&whole.dataset), ["ABC 2024-01-02 1 2 1 2 5"]);
    let half = Source::bytes("ABC.csv.gz", &bytes[..bytes.len() - 9]);
    assert!(strict(&[half], &options("x")).is_err());
}

// Goal: every kind of impossible row is rejected with its line, and all are reported together.
#[test]
fn wrong_rows_are_refused_where_they_stand() {
    let text = "symbol,date,open,high,low,close,volume\n\
        A,2024-01-02,10,11,9,10,100\n\
        A,2024-01-03,10,8,9,10,100\n\
        A,2024-01-04,-10,11,9,10,100\n\
        A,2024-01-05,10,11,9,12,100\n\
        A,2024-01-08,10,11,9,10,-1\n\
        A,2024-01-09,10,11,9,ten,100\n\
        A,2024-13-09,10,11,9,10,100\n\
        A,2024-01-10,10,11,9\n\
        ,2024-01-11,10,11,9,10,100\n\
        A,2024-01-12,10,11,,10,100\n\
        A,2024-01-02,10,11,9,10,100\n\
        B C,2024-01-02,10,11,9,10,100\n";
    let options = ImportOptions { symbol: None, ..options("x") };
    let told = refusals(&files(&[("dir/?.csv", text)]), &options);
    let expected = [
        "line 3: the high 8 is below the low 9",
        "line 4: a price of -10",
        "line 5: the close 12 is outside of 9 to 11",
        "line 6: a volume of -1",
        "line 7: close: `ten` is not a number",
        "line 8: `2024-13-09` is not a time",
        "line 9: 5 fields instead of 7",
        "line 10: it has no symbol",
        "line 11: low: it is missing",
        "line 13: `B C` is not a symbol",
        "line 12: a second bar of the day",
    ];
    assert_eq!(told, expected.map(|line| format!("dir/?.csv, {line}")));
}

// Goal: rejected rows go to the quarantine with file, line, reason and raw text; the others are imported.
#[test]
fn quarantine_takes_the_refused_rows_alone() {
    let text = "symbol,date,open,high,low,close,volume\nA,2024-01-02,10,11,9,10,100\nA,2024-01-03,10,8,9,10,100\n\
        A,2024-01-04,10,11,9,10,100\nA,2024-01-04,10,11,9,10.5,100\n";
    let (dataset, report, lines) =
        lenient(&files(&[("a.csv", text), ("b.csv", "nothing,here\n1,2\n")]), &options("x"));
    assert_eq!(
        bars(&dataset),
        ["A 2024-01-02 10 11 9 10 100"],
        "of two that contradict one another, neither"
    );
    assert_eq!((report.rows, report.refused), (4, 4));
    let at = |one: &serde_json::Value| format!("{} {}", one["file"].as_str().unwrap_or("?"), one["line"]);
    assert_eq!(lines.iter().map(at).collect::<Vec<_>>(), ["a.csv 3", "b.csv 1", "a.csv 4", "a.csv 5"]);
    assert_eq!(lines[0]["raw"], "A,2024-01-03,10,8,9,10,100");
    assert_eq!(lines[3]["reason"], "a second bar of the day, with different values");
    assert_eq!(lines[3]["raw"], "A,2024-01-04,10,11,9,10.5,100");
}

// Goal: a file that is not a table of bars, empty, binary or endless is rejected as a whole.
#[test]
fn files_of_no_use_are_refused() {
    for (name, text, reason) in [
        ("a.csv", "", "line 1: the file is empty"),
        ("a.csv", "date,open,high,low,close,volume\n", "line 1: it holds no row"),
        ("a.csv", "date,open,high,close\n2024-01-02,1,2,1\n", "line 1: there is no column `low`"),
        ("a.csv", "when,what\n1,2\n", "line 1: unknown format"),
        ("a.csv", "\u{0}\u{1}\u{2}", "line 1: unknown format"),
        ("a.parquet", "PAR1 and no more", "line 1: it is not a Parquet file"),
        ("a.json", "{\"Meta Data\": {}, \"Time Series (Daily)\": {\n", "line"),
        ("a.json", "{\"Meta Data\": {}, \"Time Series (Daily)\": 5}", "line 1: not a JSON object"),
    ] {
        let told = refusals(&files(&[(name, text)]), &options("x"));
        assert!(told[0].contains(reason), "{text:?}: {told:?}");
    }
    let open_quote = format!("date,open,high,low,close,volume\n\"{}", "x".repeat(17 << 20));
    let told = refusals(&files(&[("a.csv", &open_quote)]), &options("x"));
    assert!(told[0].contains("a quotation mark may be unclosed"), "{}", &told[0][..200.min(told[0].len())]);
    let none: Vec<Source> = Vec::new();
    assert!(matches!(strict(&none, &options("x")), Err(ImportError::Nothing(_))));
}

const DAILY: &str = r#"{
  "Meta Data": {"1. Information": "Daily", "2. Symbol": "IBM", "5. Time Zone": "US/Eastern"},
  "Time Series (Daily)": {
    "2024-01-03": {"1. open": "161", "2. high": "163", "3. low": "160", "4. close": "162", "5. adjusted close": "160.1", "6. volume": "1100", "7. dividend amount": "1.6600", "8. split coefficient": "1.0"},
    "2024-01-02": {"1. open": "160", "2. high": "162", "3. low": "159", "4. close": "161", "5. adjusted close": "157.5", "6. volume": "1000", "7. dividend amount": "0.0000", "8. split coefficient": "2.0"},
    "2024-01-01": {"1. open": "160", "2. high": "16", "3. low": "159", "4. close": "161", "6. volume": "1000"}
  }
}"#;

// Goal: Alpha Vantage's daily adjusted series yields prices as traded with splits and dividends, and an
// invalid entry is rejected with its line and path.
#[test]
fn alpha_vantage_daily() {
    let (dataset, _, lines) = lenient(&files(&[("q.json", DAILY)]), &options("x"));
    assert_eq!(
        bars(&dataset),
        ["IBM 2024-01-02 160 162 159 161 1000", "IBM 2024-01-03 161 163 160 162 1100"]
    );
    let actions: Vec<String> =
        dataset.contents().actions().map(|one| format!("{} {:?}", one.ex_date, one.kind)).collect();
    assert_eq!(actions.len(), 2, "{actions:?}");
    assert_eq!(lines[0]["line"], 6);
    assert_eq!(lines[0]["path"], r#"$."Time Series (Daily)"."2024-01-01""#);
    assert_eq!(lines[0]["reason"], "the high 16 is below the low 159");
    let limit = files(&[("q.json", r#"{"Information": "rate limit", "Meta Data": 1, "x": "Time Series"}"#)]);
    assert!(refusals(&limit, &options("x"))[0].contains("it holds no series, but says `rate limit`"));
}

// Goal: Alpha Vantage's intraday series must be declared unadjusted; times are in its own zone, before and
// after the clock change; bars outside trading hours are left out and counted.
#[test]
fn alpha_vantage_intraday() {
    let text = r#"{"Meta Data": {"2. Symbol": "IBM", "4. Interval": "60min", "6. Time Zone": "US/Eastern"},
        "Time Series (60min)": {
        "2024-03-08 09:30:00": {"1. open": "1", "2. high": "2", "3. low": "1", "4. close": "2", "5. volume": "7"},
        "2024-03-11 09:30:00": {"1. open": "1", "2. high": "2", "3. low": "1", "4. close": "2", "5. volume": "7"},
        "2024-03-11 15:30:00": {"1. open": "1", "2. high": "3", "3. low": "1", "4. close": "2", "5. volume": "7"},
        "2024-03-11 18:00:00": {"1. open": "1", "2. high": "9", "3. low": "1", "4. close": "2", "5. volume": "7"}}}"#;
    assert!(refusals(&files(&[("q.json", text)]), &options("x"))[0].contains("--prices as-traded"));
    let as_traded = ImportOptions { basis: Some(Basis::AsTraded), ..options("x") };
    let imported = strict(&files(&[("q.json", text)]), &as_traded).expect("it");
    let dataset = imported.dataset;
    let ibm = Symbol::new("IBM");
    let hour = dataset.intervals()[0];
    let view = dataset.view(dataset.days()[1].close);
    let seen = view.intraday_bars(&ibm, hour, BarRange::default()).expect("bars").value;
    let times: Vec<String> = seen.iter().map(|bar| format!("{} {}", bar.opens_at, bar.closes_at)).collect();
    assert_eq!(
        times,
        [
            "2024-03-08T14:30:00Z 2024-03-08T15:30:00Z",
            "2024-03-11T13:30:00Z 2024-03-11T14:30:00Z",
            "2024-03-11T19:30:00Z 2024-03-11T20:00:00Z",
        ],
        "the last ends with the day"
    );
    assert_eq!(
        imported.report.notes,
        ["1 bars outside of trading hours in America/New_York are left out (IBM 1), 3 within them are kept"]
    );
    let bad_zone = text.replace("US/Eastern", "US/Nowhere");
    assert!(
        refusals(&files(&[("q.json", &bad_zone)]), &as_traded)[0].contains("`US/Nowhere` is not a time zone")
    );
}

const MERGED: &str = concat!(
    r#"{"Meta Data": {"2. Symbol": "AAPL", "5. Time Zone": "US/Eastern"}, "Time Series (Daily)": {"2025-10-30": {"1. buy price": "271.99"}, "2025-10-29": {"2. high": "271.41", "3. low": "267.11", "5. volume": "51086742", "1. buy price": "269.275", "4. sell price": "269.7"}}}"#,
    "\n",
    r#"{"Meta Data": {"2. Symbol": "MSFT"}, "Time Series (Daily)": {"2025-10-30": {"1. buy price": "530.5"}, "2025-10-29": {"2. high": "545", "3. low": "540", "5. volume": "36000000", "1. buy price": "544", "4. sell price": "541.5"}}}"#,
    "\n",
);

// Goal: in AI-Trader's file, whose newest bars have only an open, that open is today's, and there is nothing more.
#[test]
fn merged_jsonl_ends_with_the_open_alone() {
    let dataset = strict(&files(&[("merged.jsonl", MERGED)]), &options("x")).expect("it").dataset;
    assert_eq!(
        bars(&dataset),
        [
            "AAPL 2025-10-29 269.275 271.41 267.11 269.7 51086742",
            "AAPL 2025-10-30 271.99",
            "MSFT 2025-10-29 544 545 540 541.5 36000000",
            "MSFT 2025-10-30 530.5",
        ]
    );
    let close = dataset.view(dataset.days()[1].close);
    assert_eq!(close.open_price(&"AAPL".into()).expect("open").value.price.to_string(), "271.99");
    assert!(close.today_bar(&"AAPL".into()).is_err());
}

// Goal: an open-only bar that is not on the newest day is rejected with its line.
#[test]
fn the_open_alone_is_the_newest_days() {
    let text = MERGED
        .replace(r#""2025-10-30": {"1. buy price": "530.5"}, "#, "")
        .replace("2025-10-30", "2025-10-28");
    let told = refusals(&files(&[("merged.jsonl", &text)]), &options("x"));
    assert_eq!(
        told,
        [
            r#"merged.jsonl, line 1, $."Time Series (Daily)"."2025-10-28": only an open, but it is not the newest bar"#
        ]
    );
}

// Goal: news from JSON Lines and tables is read with its publication time; undated items are rejected.
#[test]
fn news_need_a_publication_time() {
    let bars = ("A.csv", "date,open,high,low,close,volume\n2024-01-02,1,2,1,2,5\n2024-01-03,1,2,1,2,5\n");
    let lines = concat!(
        r#"{"published_at": "2024-01-02T15:00:00Z", "title": "One", "symbols": ["A", "B"], "source": "wire", "body": "text"}"#,
        "\n",
        r#"{"title": "Undated", "published_at": null}"#,
        "\n",
        r#"{"published_at": "2024-01-02", "title": "Of a day"}"#,
        "\n",
        "not json\n",
        r#"{"published_at": "2024-03-10 02:30:00", "title": "In the hour that the clocks skip"}"#,
        "\n",
    );
    let table = ("more.csv", "published_at,headline,tickers\n2024-01-02 10:00,Local,A;B\n,None,A\n");
    let (dataset, _, refused) = lenient(&files(&[bars, ("news.jsonl", lines), table]), &options("x"));
    let seen: Vec<String> = dataset
        .contents()
        .news()
        .iter()
        .map(|one| format!("{} {}", one.published_at, one.item.headline))
        .collect();
    assert_eq!(
        seen,
        ["2024-01-02T15:00:00Z One", "2024-01-02T15:00:00Z Local", "2024-01-03T05:00:00Z Of a day"],
        "a date alone is known when the day is over at the exchange"
    );
    let told: Vec<String> =
        refused.iter().map(|one| format!("{} {}: {}", one["file"], one["line"], one["reason"])).collect();
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[0].contains("2: \"it is undated"), "{told:?}");
    assert!(told[1].contains("4: \"not a JSON object"), "{told:?}");
    assert!(
        told[2].contains("5: \"2024-03-10T02:30:00 is not a single instant in America/New_York"),
        "{told:?}"
    );
    assert!(told[3].contains("3: \"it is undated"), "{told:?}");
}

// Goal: fundamentals and macroeconomic series are read with their publication dates, and a calendar with an
// early close; an action outside the data is left out with a note, one on a day without trading is rejected.
#[test]
fn figures_calendars_and_actions() {
    let bars = (
        "A.csv",
        "date,open,high,low,close,volume\n2024-07-02,1,2,1,2,5\n2024-07-03,1,2,1,2,5\n2024-07-05,1,2,1,2,5\n",
    );
    let calendar = (
        "calendar.csv",
        "date,opens_at,closes_at\n2024-07-02,,\n2024-07-03,,13:00\n2024-07-05,,\n2024-07-08,,\n",
    );
    let facts = (
        "f.csv",
        "symbol,metric,period_end,value,unit,published_at\nA,revenue,2024-03-31,1.5e9,USD,2024-05-01\n",
    );
    let macros =
        ("m.csv", "series,date,value,unit,release_date\nCPI,2024-05-01,3.3,percent,2024-06-12T12:30:00Z\n");
    let names = ("i.csv", "symbol,name,currency\nA,Alpha,CAD\n");
    let actions =
        ("x.csv", "symbol,ex_date,kind,value\nA,2024-07-03,dividend,0.1\nA,2024-09-03,dividend,0.1\n");
    let all = files(&[bars, calendar, facts, macros, names, actions]);
    let imported = strict(&all, &options("x")).expect("it");
    let dataset = &imported.dataset;
    let closes: Vec<String> = dataset.days().iter().map(|day| day.close.to_string()).collect();
    assert_eq!(
        closes,
        ["2024-07-02T20:00:00Z", "2024-07-03T17:00:00Z", "2024-07-05T20:00:00Z"],
        "to the last bar"
    );
    assert_eq!(dataset.contents().instruments().next().map(|one| one.currency.as_str()), Some("CAD"));
    assert_eq!(
        dataset.contents().fundamentals().next().map(|one| one.item.value.to_string()).as_deref(),
        Some("1500000000")
    );
    assert_eq!(dataset.contents().macros().count(), 1);
    assert_eq!(imported.report.notes.len(), 1, "{:?}", imported.report.notes);
    // A delisting payout is returned unchanged.
    let other = ("B.csv", "date,open,high,low,close,volume\n2024-07-02,1,2,1,2,5\n");
    for (value, pays) in [("last_price", None), ("nothing", Some("0")), ("12.50", Some("12.5"))] {
        let gone = format!("symbol,ex_date,kind,value\nB,2024-07-03,delisting,{value}\n");
        let imported = strict(&files(&[bars, other, ("x.csv", &gone)]), &options("x")).expect("it");
        let actions: Vec<CorporateAction> = imported.dataset.contents().actions().cloned().collect();
        let [CorporateAction { kind: CorporateActionKind::Delisting { pays: read }, .. }] =
            actions.as_slice()
        else {
            panic!("{actions:?}")
        };
        assert_eq!(read.map(|pays| pays.to_string()).as_deref(), pays);
    }
    let wrong =
        ("x.csv", "symbol,ex_date,kind,value\nB,2024-07-03,delisting,much\nB,2024-07-03,delisting,-1\n");
    let told = refusals(&files(&[bars, other, wrong]), &options("x"));
    assert!(
        told[0].contains("line 2: ") && told[1].ends_with("line 3: a delisting that pays -1"),
        "{told:?}"
    );
    let off = files(&[
        bars,
        (
            "x.csv",
            "symbol,ex_date,kind,value\nA,2024-07-04,dividend,0.1\nB,2024-07-03,split,2:1\nA,2024-07-03,split,1\n",
        ),
    ]);
    let told = refusals(&off, &options("x"));
    assert!(told[0].ends_with("line 4: a split of 1 new shares for one"), "{told:?}");
    assert!(told[1].ends_with("line 2: its ex-date is not a trading day"), "{told:?}");
    assert!(told[2].ends_with("line 3: there is no bar of B"), "{told:?}");
}

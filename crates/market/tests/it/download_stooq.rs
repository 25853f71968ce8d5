//! Stooq: tables, and its other responses with status 200.

use crate::download_support::{Stage, bars, plain, read, rows};
use papertape_market::download::{Ended, SourceName, State};
use papertape_market::import::{ImportedRow, Source};
use papertape_testkit::model_server::ScriptedAnswer;

const NOW: &str = "2024-06-14T15:00:00Z";
const TABLE: &str = "Date,Open,High,Low,Close,Volume\r\n\
    2024-06-12,207.37,220.2,206.9,213.07,198134293\r\n2024-06-13,214.74,216.75,211.6,214.24,97862729\r\n";

async fn stage(answers: impl IntoIterator<Item = ScriptedAnswer>) -> Stage {
    Stage::new(SourceName::Stooq, NOW, answers).await
}

// Goal: the table is requested once and read, despite warnings before it.
#[tokio::test]
async fn tables_are_asked_for_and_read() {
    let warned = format!("\nWarning: Division by zero in download.inc on line 102\n{TABLE}");
    let stage = stage([plain(TABLE), plain(&warned)]).await;
    let order = bars(&["AAPL", "BMW.DE"], "2024-06-12", "2024-06-13", "1d");
    let report = stage.run(&order).await;
    assert!(report.is_complete(), "{report:?}");
    let asked = stage.asked();
    assert!(asked[0].starts_with("/q/d/l/?s=aapl.us&d1=20240612&d2=20240613&i=d&o=1111111"), "{asked:?}");
    assert!(asked[1].contains("s=bmw.de&"), "{asked:?}");
    for symbol in &report.symbols {
        let rows = rows("stooq-csv", &symbol.files[0]);
        let Ok(ImportedRow::Bar(bar)) = &rows[1] else { panic!("{rows:?}") };
        assert_eq!((&bar.symbol, rows.len()), (&symbol.symbol, 2));
        assert_eq!(bar.rest.expect("is over").close.to_string(), "214.24");
    }
    assert!(report.symbols[0].notes[0].contains("neither splits nor dividends"));
    assert_eq!(stage.run(&order).await.requests, 0);
}

// Goal: the row of the day of the request has only its open.
#[tokio::test]
async fn todays_row_gives_its_open_alone() {
    let stage = stage([plain(&format!("{TABLE}2024-06-14,213.85,215.17,211.3,212.49,70122748\r\n"))]).await;
    let report = stage.run(&bars(&["AAPL"], "2024-06-12", "2024-06-14", "1d")).await;
    let rows = rows("stooq-csv", &report.symbols[0].files[0]);
    let open_alone: Vec<bool> =
        rows.iter().map(|row| matches!(row, Ok(ImportedRow::Bar(bar)) if bar.rest.is_none())).collect();
    assert_eq!(open_alone, [false, false, true]);
    assert!(report.symbols[0].notes.iter().any(|note| note.contains("only its open")), "{report:?}");
}

// Goal: responses without a table are told apart: no data, the daily quota, a web page, a missing key, and a
// truncated table.
#[tokio::test]
async fn what_is_no_table_is_told_apart() {
    let order = bars(&["A", "B"], "2024-06-12", "2024-06-13", "1d");
    let cut = &TABLE[..TABLE.len() - 20];
    let stage = self::stage([plain("No data"), plain(cut), plain(TABLE)]).await;
    let report = stage.run(&order).await;
    let states: Vec<State> = report.symbols.iter().map(|one| one.state).collect();
    assert_eq!(states, [State::Unknown, State::Complete], "{report:?}");
    assert_eq!(stage.clock.pauses(), [1.0]);

    let stage = self::stage([plain("Exceeded the daily hits limit")]).await;
    let report = stage.run(&order).await;
    assert!(matches!(report.ended, Some(Ended::Quota(_))), "{report:?}");
    assert_eq!(report.in_state(State::Missing).count(), 2);

    for page in ["<!DOCTYPE html><html>Are you a robot?</html>", "Get your apikey: open the page"] {
        let stage = self::stage([plain(page)]).await;
        let report = stage.run(&order).await;
        assert!(matches!(report.ended, Some(Ended::Denied(_))), "{report:?}");
        assert!(stage.files().is_empty());
    }
}

// Goal: an unreadable row is reported with its line, and a file without a table is rejected.
#[test]
fn rows_that_cannot_be_read_have_their_line() {
    let text = "Date,Open,High,Low,Close\n2024-06-12,1,2,1,N/D\n2024-06-13,1,2,1\n2024-06-14,1,2,1,2\n";
    let rows = read("stooq-csv", &Source::bytes("^SPX-20240612-20240614.csv", text)).expect("is of use");
    assert_eq!(rows[0].as_ref().expect_err("is refused"), "2: close: it is missing");
    assert_eq!(rows[1].as_ref().expect_err("is refused"), "3: 4 values instead of 5");
    assert!(matches!(&rows[2], Ok(ImportedRow::Bar(bar)) if bar.symbol.as_str() == "^SPX"));
    assert!(read("stooq-csv", &Source::bytes("A.csv", "No data")).is_err());
}

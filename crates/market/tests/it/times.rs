//! Times as numbers, and Parquet as polars writes it by default.

use crate::support::{bars, options, strict};
use bytes::Bytes;
use papertape_market::import::Source;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// Two daily bars of IBM in a Parquet file, with their times in milliseconds since the Unix epoch.
fn parquet(compression: Compression) -> Bytes {
    let schema = "message schema {
        required binary symbol (UTF8); required int64 timestamp; required double open; required double high;
        required double low; required double close; required int64 volume;
    }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).expect("begins");
    let mut group = file.next_row_group().expect("a group");
    let mut column = 0;
    while let Some(mut writer) = group.next_column().expect("a column") {
        match column {
            0 => {
                let symbols = [ByteArray::from("IBM"), ByteArray::from("IBM")];
                writer.typed::<ByteArrayType>().write_batch(&symbols, None, None).expect("writes");
            }
            1 => {
                let days = [1_349_049_600_000, 1_349_136_000_000];
                writer.typed::<Int64Type>().write_batch(&days, None, None).expect("writes");
            }
            6 => drop(writer.typed::<Int64Type>().write_batch(&[100, 200], None, None).expect("writes")),
            price => {
                let prices = match price {
                    2 | 5 => [10.5, 11.25],
                    3 => [12.0, 12.0],
                    _ => [9.0, 9.5],
                };
                writer.typed::<DoubleType>().write_batch(&prices, None, None).expect("writes");
            }
        }
        writer.close().expect("ends");
        column += 1;
    }
    group.close().expect("ends");
    file.into_inner().expect("ends").into()
}

/// Goal: Parquet compressed with zstd is read like any other.
#[test]
fn parquet_with_zstd_is_read() {
    let level = ZstdLevel::try_new(3).expect("a level");
    let read = |compression| {
        let source = Source::bytes("ibm.parquet", parquet(compression).to_vec());
        bars(&strict(&[source], &options("p")).expect("is imported").dataset)
    };
    let wanted = ["IBM 2012-10-01 10.5 12 9 10.5 100", "IBM 2012-10-02 11.25 12 9.5 11.25 200"];
    assert_eq!(read(Compression::ZSTD(level)), wanted);
    assert_eq!(read(Compression::UNCOMPRESSED), wanted);
}

/// Goal: seconds and milliseconds since the Unix epoch are accepted wherever a time is: bars, news, figures,
/// actions, calendars.
#[test]
fn epochs_are_times_everywhere() {
    let csv = "symbol,date,open,high,low,close,volume\n";
    let bars_by_day = format!("{csv}IBM,2012-10-01,10,11,9,10,100\nIBM,2012-10-02,10,11,9,10,100\n");
    let bars_by_second = format!("{csv}IBM,1349049600,10,11,9,10,100\nIBM,1349136000,10,11,9,10,100\n");
    let files = |bars: &str, news: &str, filed: &str, ex: &str| {
        let files = [
            ("bars.csv", bars.to_owned()),
            ("news.csv", format!("published_at,headline,symbol\n{news},It rose,IBM\n")),
            (
                "figures.csv",
                format!("symbol,metric,period_end,value,published_at\nIBM,revenue,2012-06-30,25,{filed}\n"),
            ),
            ("actions.csv", format!("symbol,ex_date,kind,value\nIBM,{ex},dividend,0.5\n")),
        ];
        let sources: Vec<Source> =
            files.iter().map(|(name, text)| Source::bytes(*name, text.as_str())).collect();
        strict(&sources, &options("t")).expect("is imported").dataset.hash().to_hex()
    };
    let by_words = files(&bars_by_day, "2012-10-01T12:00:00Z", "2012-07-18T20:00:00Z", "2012-10-02");
    assert_eq!(files(&bars_by_second, "1349092800", "1342641600", "1349136000"), by_words);
    assert_eq!(files(&bars_by_second, "1349092800000", "1342641600000", "1349136000000"), by_words);
    assert_eq!(
        files(&bars_by_second, "1349092800.0", "1342641600.000", "1349136000"),
        by_words,
        "as pandas writes them"
    );
}

/// Goal: many invalid rows of one kind are reported as one sentence, with a count and the first places.
#[test]
fn problems_are_told_by_kind() {
    let mut text = "symbol,date,open,high,low,close,volume\n".to_owned();
    for day in 1..=9 {
        text.push_str(&format!("IBM,2012-10-0{day},10,x{day},9,10,100\n"));
    }
    text.push_str("IBM,2012-10-10,10,11,9,10,100\nIBM,2012-10-11,10,11,12,10,100\n");
    let error = strict(&[Source::bytes("bars.csv", text)], &options("p")).expect_err("is refused");
    let papertape_market::import::ImportError::Refused(report) = error else { panic!("{error}") };
    let told: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(
        told[0],
        "9 times, as here: high: `x1` is not a number (bars.csv, line 2; bars.csv, line 3; bars.csv, line 4; 6 more)"
    );
    assert!(told[1].starts_with("bars.csv, line 12: "), "{told:?}");
}

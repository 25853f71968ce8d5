//! Members of indexes over time: what is read, what is refused, and that it comes back when it is written out.

use crate::support::{files, lenient, options, refusals, strict};
use papertape_core::id::Symbol;
use papertape_core::market::{Dataset, Membership};
use papertape_core::time::{Date, Timestamp};
use papertape_market::Catalogue;
use papertape_market::export::{ExportFormat, export};
use papertape_market::import::Source;
use std::collections::BTreeSet;

const BARS: &str = "symbol,date,open,high,low,close,volume\n\
    AAA,2024-01-02,10,11,9,10,1000\nAAA,2024-01-03,10,12,10,11,1000\nAAA,2024-01-04,11,12,10,12,1000\n\
    BBB,2024-01-02,20,21,19,20,500\nBBB,2024-01-03,20,22,20,21,500\nBBB,2024-01-04,21,22,20,22,500\n";

/// AAA leaves and comes back; BBB joins, announced on the day before; CCC has no bars.
const MEMBERS: &str = "index,symbol,from,until,announced_at\n\
    IDX,AAA,2023-06-01,2024-01-03,\nIDX,AAA,2024-01-04,,\n\
    IDX,BBB,2024-01-03,,2024-01-02T18:00:00Z\nIDX,CCC,2020-01-01,,\nALL,BBB,2020-01-01,,\n";

fn members(dataset: &Dataset, index: &str, at: &str) -> Vec<String> {
    let at: Timestamp = at.parse().expect("an instant");
    let read = dataset.view(at).members(index).expect("an index").value;
    read.iter().map(Symbol::to_string).collect()
}

/// Goal: members are those of each day, known at its open or from the announcement on, in every form that rows come
/// in; written out and imported again it is the same dataset, and so it is on disk.
#[test]
fn members_are_read_and_come_back() {
    let imported = strict(&files(&[("bars.csv", BARS), ("m.csv", MEMBERS)]), &options("x")).expect("imports");
    let (dataset, notes) = (imported.dataset, imported.report.notes);
    assert_eq!(notes, ["members without bars are left out of IDX: 1 (CCC); a run on it trades without them"]);
    for (at, expected) in [
        ("2024-01-02T14:30:00Z", vec!["AAA"]),
        ("2024-01-02T21:00:00Z", vec!["AAA"]),
        ("2024-01-03T14:30:00Z", vec!["BBB"]),
        ("2024-01-04T14:29:59Z", vec!["BBB"]),
        ("2024-01-04T14:30:00Z", vec!["AAA", "BBB"]),
    ] {
        assert_eq!(members(&dataset, "IDX", at), expected, "{at}");
    }
    assert_eq!(members(&dataset, "ALL", "2024-01-02T14:30:00Z"), ["BBB"]);
    for form in [ExportFormat::Csv, ExportFormat::Jsonl, ExportFormat::Parquet] {
        let dir = tempfile::tempdir().expect("a directory");
        let written = export(&dataset, dir.path(), form).expect("exports");
        assert!(written.iter().any(|path| path.file_stem().is_some_and(|stem| stem == "memberships")));
        let sources: Vec<Source> = written.iter().map(Source::file).collect();
        let again = strict(&sources, &options("y")).expect("imports").dataset;
        assert_eq!(again.hash(), dataset.hash(), "{form:?}");
        assert_eq!(again.contents().memberships(), dataset.contents().memberships());
    }
    let dir = tempfile::tempdir().expect("a directory");
    let catalogue = Catalogue::at(dir.path());
    catalogue.store(&dataset, None, false).expect("is kept");
    let entry = catalogue.verify("x").expect("its hash holds");
    let indexes: Vec<_> =
        entry.universes.iter().map(|one| (one.name.as_str(), one.symbols, one.memberships)).collect();
    assert_eq!(indexes, [("ALL", 1, 1), ("IDX", 2, 3)]);
    assert_eq!(
        members(&Catalogue::at(dir.path()).open("x").expect("opens"), "IDX", "2024-01-04T14:30:00Z").len(),
        2
    );
}

/// Goal: a row that cannot be is refused with a sentence that says why; of periods that overlap both are, whichever
/// comes first, and the others are imported.
#[test]
fn impossible_memberships_are_refused() {
    let refused = |rows: &str| {
        let text = format!("index,symbol,from,until,announced_at\n{rows}");
        refusals(&files(&[("bars.csv", BARS), ("m.csv", &text)]), &options("x"))
    };
    for (rows, reason) in [
        ("IDX,AAA,2024-01-03,2024-01-03,", "m.csv, line 2: until 2024-01-03 is not after from 2024-01-03"),
        ("IDX,AAA,,2024-01-03,", "m.csv, line 2: from: it is missing"),
        (",AAA,2024-01-03,,", "m.csv, line 2: `` is not the name of an index"),
        ("IDX,,2024-01-03,,", "m.csv, line 2: `` is not a symbol"),
        ("IDX,AAA,2024-01-03,soon,", "m.csv, line 2: until: `soon` is not a date of the form YYYY-MM-DD"),
        ("IDX,AAA,2024-01-03,,soon", "m.csv, line 2: `soon` is not a time"),
    ] {
        assert_eq!(refused(rows), [reason]);
    }
    let twice = refused("IDX,AAA,2024-01-03,,\nIDX,AAA,2024-01-03,2024-01-04,\n");
    assert_eq!(twice.len(), 2);
    assert!(twice[0].ends_with("the membership is given twice, with different values"), "{twice:?}");
    let overlap = "IDX,AAA,2023-01-01,,\nIDX,AAA,2023-02-01,2023-03-01,\nIDX,AAA,2023-05-01,2023-06-01,\n\
        IDX,BBB,2023-01-01,2023-02-01,\nIDX,BBB,2023-02-01,,\nALL,AAA,2023-02-01,,\n";
    assert_eq!(
        refused(overlap),
        [
            "m.csv, line 2: the membership overlaps another one of `AAA` from 2023-05-01 until 2023-06-01",
            "m.csv, line 3: the membership overlaps another one of `AAA` from 2023-01-01 on",
            "m.csv, line 4: the membership overlaps another one of `AAA` from 2023-01-01 on",
        ]
    );
    let text = format!("index,symbol,from,until,announced_at\n{overlap}");
    let (dataset, _, quarantined) = lenient(&files(&[("m.csv", &text), ("bars.csv", BARS)]), &options("x"));
    assert_eq!(quarantined.len(), 3);
    assert_eq!(dataset.contents().memberships().len(), 3);
}

/// Goal: a change that was announced after it took effect counts from the announcement on, and a note says so.
#[test]
fn a_late_announcement_counts_from_itself_on() {
    let rows = "{\"index\":\"IDX\",\"symbol\":\"AAA\",\"from\":\"2024-01-02\",\"announced_at\":\"2024-01-03\"}\n\
        {\"index\":\"IDX\",\"symbol\":\"BBB\",\"from\":\"2020-01-02\",\"until\":\"2024-01-03\",\
        \"until_announced_at\":\"2024-01-04T15:00:00Z\"}\n";
    let imported = strict(&files(&[("bars.csv", BARS), ("m.jsonl", rows)]), &options("x")).expect("imports");
    assert!(
        imported.report.notes[0].starts_with("2 memberships begin or end after"),
        "{:?}",
        imported.report.notes
    );
    let dataset = imported.dataset;
    assert_eq!(members(&dataset, "IDX", "2024-01-03T14:30:00Z"), ["BBB"]);
    assert_eq!(members(&dataset, "IDX", "2024-01-04T14:30:00Z"), ["AAA", "BBB"]);
    assert_eq!(members(&dataset, "IDX", "2024-01-04T15:00:00Z"), ["AAA"]);
}

/// Goal: a dataset without memberships has the hash and the bytes that it had before there were any.
#[test]
fn datasets_without_members_hash_as_before() {
    let dataset = strict(&files(&[("bars.csv", BARS)]), &options("x")).expect("imports").dataset;
    assert_eq!(dataset.hash().to_hex(), "0e74d28211dba2f435aa9fc7fca1f06df02512b66b223d75c11b450e51c170bf");
    let mut bytes = Vec::new();
    dataset.pack(&mut bytes).expect("packs");
    assert_eq!(
        blake3::hash(&bytes).to_hex().as_str(),
        "9fad73abc1f8d34646c3a4735ed22a26fdf17c88fa52b6d2d13b589393025a8d"
    );
    let with =
        strict(&files(&[("bars.csv", BARS), ("m.csv", MEMBERS)]), &options("x")).expect("imports").dataset;
    assert_ne!(with.hash(), dataset.hash(), "members are part of the content");
}

/// Goal: what a dataset gives as periods are the periods that it was given.
#[test]
fn periods_are_given_back() {
    let dataset =
        strict(&files(&[("bars.csv", BARS), ("m.csv", MEMBERS)]), &options("x")).expect("imports").dataset;
    let given: Vec<(String, String, Date, Option<Date>)> = dataset
        .contents()
        .memberships()
        .into_iter()
        .map(|Membership { index, symbol, from, until, .. }| (index, symbol.to_string(), from, until))
        .collect();
    let date = |day| jiff::civil::date(2024, 1, day);
    assert_eq!(
        given,
        [
            ("ALL".to_owned(), "BBB".to_owned(), jiff::civil::date(2020, 1, 1), None),
            ("IDX".to_owned(), "AAA".to_owned(), jiff::civil::date(2023, 6, 1), Some(date(3))),
            ("IDX".to_owned(), "AAA".to_owned(), date(4), None),
            ("IDX".to_owned(), "BBB".to_owned(), date(3), None),
        ]
    );
    let ever: BTreeSet<Symbol> = ["AAA", "BBB"].map(Symbol::new).into();
    assert_eq!(dataset.universes().get("IDX"), Some(&ever));
}

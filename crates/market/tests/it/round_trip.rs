//! The same rows form the same dataset, in whatever order, files and format they come.

use crate::support::{files, lenient, options, strict};
use papertape_core::market::Dataset;
use papertape_market::bundled;
use papertape_market::export::{ExportFormat, export};
use papertape_market::import::Source;
use proptest::prelude::*;
use std::fmt::Write as _;

const FORMS: [ExportFormat; 3] = [ExportFormat::Csv, ExportFormat::Jsonl, ExportFormat::Parquet];

/// Exports a dataset and imports the result.
fn again(dataset: &Dataset, form: ExportFormat) -> Dataset {
    let dir = tempfile::tempdir().expect("a directory");
    let written = export(dataset, dir.path(), form).expect("exports");
    let sources: Vec<Source> = written.iter().rev().map(Source::file).collect();
    strict(&sources, &options("again")).expect("imports").dataset
}

// Goal: the bundled dataset, exported in any format, is imported unchanged.
#[test]
fn the_bundled_dataset_comes_back() {
    for form in FORMS {
        assert_eq!(again(&bundled(), form).hash(), bundled().hash(), "{form:?}");
    }
}

/// A dataset with every kind of row: minutes, days, actions, news and figures.
fn everything(seed: u32, count: u32) -> Vec<(String, String)> {
    let mut within = String::from("symbol,opens_at,interval,open,high,low,close,volume\n");
    let mut daily = String::from("symbol,date,open,high,low,close,volume\n");
    for at in 0..count {
        let (day, slot) = (4 + at % 3, (at / 3) % 70);
        let (hour, minute) = (15 + slot / 12, 5 * (slot % 12));
        let price = 1 + (seed.wrapping_mul(7).wrapping_add(at * 13)) % 900;
        let line = format!(
            "2024-01-{:02}T{hour}:{minute:02}:00Z,5m,{price}.{seed:03},1000,0.5,{price},{at}",
            day - 2
        );
        if at < 3 * 70 {
            writeln!(within, "M{},{line}", seed % 2).expect("writes");
        }
        if at < 3 {
            writeln!(daily, "D,2024-01-{:02},{price},1000,0.5,{price}.000{seed:03},{at}", day - 2)
                .expect("writes");
        }
    }
    let news = format!(
        "{{\"published_at\":\"2024-01-02T15:00:00Z\",\"title\":\"a \\\"b\\\", c{seed}\",\"symbols\":[\"D\"],\"body\":\"x\\ny\"}}\n\
         {{\"published_at\":\"2024-01-02T16:00:00.5Z\",\"title\":\"ü\",\"url\":\"u\"}}\n"
    );
    let actions = format!(
        "symbol,ex_date,kind,value\nD,2024-01-03,split,{}:7\nD,2024-01-03,dividend,0.0{seed}\n",
        2 + seed
    );
    let facts = "symbol,metric,period_end,value,unit,published_at\nD,eps,2023-12-31,-1.25,USD,2024-01-03\n"
        .to_owned();
    let macros =
        format!("series,period,value,unit,published_at\nCPI,2023-12-01,{seed}.5,%,2024-01-02T13:30:00Z\n");
    let all = [
        ("w.csv", within),
        ("d.csv", daily),
        ("n.jsonl", news),
        ("a.csv", actions),
        ("f.csv", facts),
        ("m.csv", macros),
    ];
    all.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    // Goal: the order of files and rows has no effect; exported in any format and imported, it is the same dataset.
    #[test]
    fn order_and_form_do_not_show(seed in 1..900_u32, count in 3..210_u32, turn in 0..6_usize, form in 0..3_usize) {
        let mut texts = everything(seed, count);
        let import = |texts: &[(String, String)]| {
            let named: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (&**name, &**text)).collect();
            let imported = strict(&files(&named), &options("x"));
            imported.map(|imported| imported.dataset)
        };
        // A split of seven for seven is not a split: such input is rejected anyway.
        prop_assume!(seed != 5);
        let one = import(&texts).expect("imports");
        texts.rotate_left(turn);
        for (_, text) in &mut texts {
            let mut lines: Vec<&str> = text.lines().collect();
            let header = usize::from(!lines[0].starts_with('{'));
            lines[header..].reverse();
            *text = lines.join("\n");
        }
        prop_assert_eq!(import(&texts).expect("imports").hash(), one.hash());
        prop_assert_eq!(again(&one, FORMS[form]).hash(), one.hash());
    }
}

// Goal: contradictory rows are rejected alike whichever file comes first.
#[test]
fn contradictions_do_not_depend_on_order() {
    let one = (
        "A.csv",
        "date,open,high,low,close,volume\n2024-01-02,1,2,1,2,5\n2024-01-03,1,2,1,2,5\n2024-01-04,1,2,1,2,5\n",
    );
    let two =
        ("dir/A.csv", "date,open,high,low,close,volume\n2024-01-03,1,2,1,1.5,5\n2024-01-04,1,2,1,2,5\n");
    let (here, _, refused) = lenient(&files(&[one, two]), &options("x"));
    let (there, _, again) = lenient(&files(&[two, one]), &options("x"));
    assert_eq!(here.hash(), there.hash());
    assert_eq!((refused.len(), again.len()), (3, 3));
    assert_eq!(here.bar_count(), 2);
}

// Goal: a million rows are imported, packed and read back.
#[test]
fn a_million_rows() {
    let days: Vec<String> = (0..2_500)
        .map(|day| format!("{}-{:02}-{:02}", 1990 + day / 336, 1 + day / 28 % 12, 1 + day % 28))
        .collect();
    let mut text = String::from("symbol,date,open,high,low,close,volume\n");
    for symbol in 0..400 {
        for (day, date) in days.iter().enumerate() {
            let price = 10 + (symbol * 31 + day * 17) % 90;
            writeln!(
                text,
                "S{symbol:03},{date},{price},{}.5,{}.25,{price}.1,{}",
                price + 1,
                price - 1,
                day * 100
            )
            .expect("writes");
        }
    }
    let imported = strict(&files(&[("many.csv", &text)]), &options("many")).expect("imports");
    assert_eq!((imported.report.rows, imported.dataset.bar_count()), (1_000_000, 1_000_000));
    let mut bytes = Vec::new();
    imported.dataset.pack(&mut bytes).expect("packs");
    assert!(bytes.len() < 16_000_000, "{} bytes", bytes.len());
    let opened = Dataset::unpack("many", &mut bytes.as_slice()).expect("unpacks");
    assert_eq!(opened.computed_hash(), imported.dataset.hash());
}

use crate::mask;
use papertape_core::id::Symbol;
use papertape_core::market::MaskKind;
use papertape_core::time::Date;
use regex::Regex;

fn masked(kind: MaskKind, text: &str) -> String {
    let source = crate::bundled();
    let texts = mask::text_mask(&source, kind).expect("masks");
    texts.apply_about(text, Some(jiff::civil::date(2012, 10, 4)), &["AAPL".into()])
}

/// The shift of the bundled dataset.
fn shift() -> i32 {
    let source = crate::bundled();
    super::super::derive::mask(&source, MaskKind::Dates).expect("masks").masking.shift_days
}

/// Goal: every way in which texts write a date becomes the shifted date, written the same way.
#[test]
fn dates_are_shifted_in_every_form() {
    let days = shift();
    let to =
        |year, month, day| super::span::shift(jiff::civil::date(year, month, day), days).expect("a date");
    let long = |date: Date, format: &str| date.strftime(format).to_string();
    let d = to(2012, 10, 3);
    let year = to(2012, 7, 15).year();
    let q3 = to(2012, 8, 15).year();
    let cases = [
        ("on 2012-10-03.", format!("on {d}.")),
        ("在2012-10-03发布", format!("在{d}发布")),
        ("2012/10/03", long(d, "%Y/%m/%d")),
        ("2012-10-03T09:30:00Z", format!("{d}T09:30:00Z")),
        ("20121003", long(d, "%Y%m%d")),
        ("10/03/2012", long(d, "%m/%d/%Y")),
        ("10/3/12", long(d, "%-m/%-d/%y")),
        ("25/10/2012", long(to(2012, 10, 25), "%d/%m/%Y")),
        ("Oct 3", long(d, "%b %-d")),
        ("Oct. 3, 2012", long(d, "%b. %-d, %Y")),
        ("OCT 3", long(d, "%b %-d").to_uppercase()),
        ("October 3 2012", long(d, "%B %-d %Y")),
        ("3 October 2012", long(d, "%-d %B %Y")),
        ("3-Oct-12", long(d, "%-d-%b-%y")),
        ("October 2012", long(to(2012, 10, 15), "%B %Y")),
        ("Q3 2012", format!("Q3 {q3}")),
        ("3Q12", format!("3Q{:02}", q3 % 100)),
        ("Q3'12", format!("Q3'{:02}", q3 % 100)),
        ("2012Q3", format!("{q3}Q3")),
        ("FY2012", format!("FY{year}")),
        ("FY12", format!("FY{:02}", year % 100)),
        ("in 2012,", format!("in {year},")),
        ("2012-13", format!("{year}-{:02}", (year + 1) % 100)),
        ("2012年10月3日", long(d, "%Y年%-m月%-d日")),
        ("10月3日", long(d, "%-m月%-d日")),
        ("2012年三季度", format!("{q3}年三季度")),
        ("2012年第3季度", format!("{q3}年第3季度")),
        ("2012年度", format!("{year}年度")),
        ("$2,012 or 2012 shares or 2012.5", "$2,012 or 2012 shares or 2012.5".to_owned()),
        ("may 3 be lucky", "may 3 be lucky".to_owned()),
        ("call 20121003999", "call 20121003999".to_owned()),
    ];
    for (text, expected) in cases {
        assert_eq!(masked(MaskKind::Dates, text), expected, "{text}");
        assert_eq!(masked(MaskKind::Entities, "in 2012, on Oct 3"), "in 2012, on Oct 3");
    }
    let written = masked(MaskKind::Dates, "二〇一二年十月三日");
    assert!(!written.contains("二〇一二") && written.ends_with('日'), "{written}");
    // `$2,012` and `Oct 3-5` too.
    let range = masked(MaskKind::Dates, "Oct 3-5, 2012");
    assert!(!range.contains("2012") && range.contains('-'), "{range}");
}

/// Goal: a company is found however a text writes it, and words that look like it are not.
#[test]
fn companies_are_replaced_in_every_form() {
    let real = Regex::new(
        r"(?i)\b(aapl|apple|ibm|msft|microsoft|goog|google|facebook|tesla|tsla|international business machines)\b|苹果|微软",
    )
    .expect("a pattern");
    for text in [
        "AAPL",
        "$AAPL",
        "aapl",
        "$aapl",
        "Aapl",
        "(NASDAQ:AAPL)",
        "NASDAQ: AAPL",
        "AAPL's",
        "#AAPL",
        "Apple Inc.",
        "Apple",
        "apple",
        "APPLE INC",
        "Apple's iPhone",
        "Apple Computer, Inc.",
        "苹果公司发布",
        "苹果AAPL大涨",
        "International Business Machines Corp.",
        "IBM",
        "ibm",
        "Microsoft Corporation's",
        "微软",
        "Tesla",
        "TSLA",
        "a Google/Apple deal",
        "AppleInsider says",
        "$GOOG/$MSFT",
    ] {
        let masked = masked(MaskKind::Entities, text);
        let shown = masked.replace("AppleInsider", "");
        assert!(!real.is_match(&shown) && !masked.contains("Apple"), "{text}: {masked}");
    }
    for text in ["snapple", "AAPLX", "an apple a day".split_at(2).0, "pineapples", "the ibmer"] {
        assert_eq!(masked(MaskKind::Entities, text), text);
    }
    let both = masked(MaskKind::Entities, "Apple Inc. and APPLE and apple");
    let (first, rest) = both.split_once(" Inc. and ").expect("the suffix stays");
    assert_eq!(rest, format!("{} and {}", first.to_uppercase(), first.to_lowercase()));
    assert_eq!(masked(MaskKind::Dates, "Apple (AAPL)"), "Apple (AAPL)");
}

/// Goal: amounts are scaled like the data that they are about, with the same number of decimals.
#[test]
fn figures_are_scaled_by_the_factor_of_what_they_are_about() {
    let source = crate::bundled();
    let masking = super::super::derive::mask(&source, MaskKind::Entities).expect("masks").masking;
    let factor = |symbol: &str| {
        let of = masking.symbols.values().find(|of| of.symbol == Symbol::new(symbol)).expect("a symbol");
        of.price_factor
    };
    let amount = |text: &str| {
        let found = Regex::new(r"[\d,]+(?:\.\d+)?").expect("a pattern");
        let texts = mask::text_mask(&source, MaskKind::Entities).expect("masks").apply_about(
            text,
            None,
            &["AAPL".into()],
        );
        found.find_iter(&texts).map(|it| it.as_str().to_owned()).collect::<Vec<_>>()
    };
    let scaled = |value: &str, factor: rust_decimal::Decimal, decimals: u32| {
        let value: rust_decimal::Decimal = value.parse().expect("a number");
        let value = (value * factor)
            .round_dp_with_strategy(decimals, rust_decimal::RoundingStrategy::MidpointAwayFromZero);
        format!("{value:.width$}", width = decimals as usize)
    };
    let apple = factor("AAPL");
    assert_eq!(amount("it closed at $612.25"), [scaled("612.25", apple, 2)]);
    assert_eq!(amount("IBM closed at $200.10"), [scaled("200.10", factor("IBM"), 2)]);
    assert_eq!(amount("a range of $600-$700"), [scaled("600", apple, 0), scaled("700", apple, 0)]);
    assert_eq!(amount("612.25美元"), [scaled("612.25", apple, 2)]);
    assert_ne!(amount("revenue of $35.0 billion"), ["35.0"]);
    assert_eq!(amount("up 3.5% to 612"), ["3.5", "612"], "only what a currency marks");
    assert!(apple >= "0.8".parse().expect("a number") && apple <= "1.25".parse().expect("a number"));
}

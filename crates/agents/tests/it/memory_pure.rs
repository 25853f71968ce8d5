//! The memory's pure parts: the four parts and their truncation, windows, lessons, and reflections from a
//! log.

use papertape_agents::config::{MemoryMode, MemorySettings};
use papertape_agents::memory::lessons::{Archive, Lesson, Query, rank_by_keyword, rank_hybrid};
use papertape_agents::memory::periods::{Period, fold};
use papertape_agents::memory::round_summary::{Problem, RoundSummary, SUMMARY_CHARS, chars, share};
use papertape_agents::memory::{Origin, reflections_from_log};
use papertape_core::id::Symbol;
use papertape_core::language::Language;
use papertape_core::ledger::{Account, Direction, Fill, FillCause, LedgerEvent, Side};
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::record::Assessment;
use papertape_core::time::{Date, Timestamp, from_micros};
use proptest::prelude::*;
use rust_decimal::Decimal;
use std::collections::BTreeSet;

/// Goal: both languages, both kinds of brackets, bold labels, any case; text before them is ignored, and
/// missing parts are named in the language.
#[test]
fn the_four_parts_are_read_however_they_are_written() {
    let text = "Here you are:\n**[conclusion]**: hold AAPL\n[Position] none [RISK] stop 90,\n 9% of 10%\n【Next】 earnings";
    let parts = RoundSummary::read(text, Language::En).expect("all four are there");
    let written = parts.write(Language::En);
    assert_eq!(
        written,
        "[Conclusion] hold AAPL\n[Position] none\n[Risk] stop 90, 9% of 10%\n[Next] earnings"
    );
    assert_eq!(RoundSummary::read(&written, Language::En), Ok(parts.clone()));
    let chinese = parts.write(Language::Zh);
    assert!(chinese.starts_with("[结论] hold AAPL\n[仓位] none\n[风险]"), "{chinese}");
    assert_eq!(RoundSummary::read(&chinese, Language::Zh), Ok(parts));

    let missing = RoundSummary::read("[结论] 买入\n[风险] \n[下轮关注] 财报", Language::Zh);
    assert_eq!(missing, Err(Problem::Missing(vec!["仓位", "风险"])));
    assert!(matches!(RoundSummary::read("", Language::En), Err(Problem::Missing(parts)) if parts.len() == 4));
    let long = format!("[Conclusion] {}\n[Position] p\n[Risk] r\n[Next] n", "x".repeat(600));
    assert_eq!(RoundSummary::read(&long, Language::En), Err(Problem::TooLong(644)));
    let risky = format!("[Conclusion] c\n[Position] p\n[Risk] {}\n[Next] n", "r".repeat(301));
    assert_eq!(RoundSummary::read(&risky, Language::En), Err(Problem::RiskTooLong(301)));
}

proptest! {
    /// Goal: whatever the parts and the limit, a truncated summary fits, keeps all four parts and the whole
    /// risk.
    #[test]
    fn a_cut_keeps_all_parts_and_the_risk_whole(
        bodies in prop::array::uniform4("[a-z价格 ]{1,400}"),
        most in 60_usize..700,
        zh in any::<bool>(),
    ) {
        let language = if zh { Language::Zh } else { Language::En };
        let bodies = bodies.map(|body| format!("x{body}"));
        let parts = RoundSummary::new(bodies);
        match parts.fit(language, most) {
            Some(cut) => {
                let text = cut.write(language);
                prop_assert!(chars(&text) <= most, "{} > {most}", chars(&text));
                let risk = |text: &str| text.lines().nth(2).map(str::to_owned);
                prop_assert_eq!(risk(&text), risk(&parts.write(language)));
                prop_assert!(text.lines().all(|line| line.split_once("] ").is_some_and(|(_, body)| !body.is_empty())));
            }
            None => prop_assert!(most < parts.min_chars(language)),
        }
    }

    /// Goal: the facts fill in what the model leaves out, and the limit truncates what is too long: the
    /// result is always a summary.
    #[test]
    fn a_filled_summary_is_always_one(text in "(\\[Risk\\]|\\[Next\\]|\\[Conclusion\\]|[a-z ]{0,300}){0,6}") {
        let facts = RoundSummary::new(["c", "p", "r", "n"].map(str::to_owned));
        let filled = RoundSummary::filled(&text, &facts, Language::En);
        let written = filled.write(Language::En);
        prop_assert!(RoundSummary::read(&written, Language::En).is_ok(), "{written}");
        prop_assert!(chars(&written) <= SUMMARY_CHARS);
    }

    /// Goal: a division gives no one more than it needs, and leaves nothing over while someone needs more.
    #[test]
    fn shares_are_fair(needs in prop::collection::vec(0_usize..500, 0..20), total in 0_usize..4000) {
        let given = share(&needs, total);
        prop_assert!(given.iter().zip(&needs).all(|(given, need)| given <= need));
        let sum: usize = given.iter().sum();
        prop_assert_eq!(sum, total.min(needs.iter().sum()));
    }

    /// Goal: no reflection is returned before its exit is known, whatever the query, and never more than K.
    #[test]
    fn no_lesson_is_told_before_its_exit_is_known(
        known in prop::collection::vec((0_i64..1000, 0_usize..3, 0_usize..3), 0..80),
        instant in 0_i64..1000,
        most in 0_usize..6,
        words in "[a-z ]{0,40}",
    ) {
        let mut archive = Archive::default();
        let symbols = ["AAPL", "IBM", "MSFT"].map(Symbol::new);
        for (at, (day, symbol, value)) in known.iter().enumerate() {
            archive.push(lesson(at as u64, &symbols[*symbol], *day, *value));
        }
        let query = Query { focus: BTreeSet::from([&symbols[0]]), symbols: symbols.iter().collect(), words };
        let told = rank_by_keyword(&archive, &query, day(instant), most);
        prop_assert!(told.iter().all(|lesson| lesson.known_at <= day(instant)));
        let known = known.iter().filter(|(day, ..)| *day <= instant).count();
        prop_assert_eq!(told.len(), most.min(known));
        // The archive is also the same after a round trip through the record.
        let kept: Archive = serde_json::from_value(serde_json::to_value(&archive).expect("JSON")).expect("JSON");
        prop_assert_eq!(kept, archive);
    }
}

/// The ranking without an index: every lesson's text is read.
fn by_reading<'a>(
    archive: &'a Archive,
    query: &Query<'_>,
    instant: Timestamp,
    most: usize,
) -> Vec<&'a Lesson> {
    let words = |text: &str| -> BTreeSet<String> {
        let runs = text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
        let of_run = |run: &str| -> Vec<String> {
            if run.is_ascii() {
                return if run.len() >= 3 { vec![run.to_ascii_lowercase()] } else { Vec::new() };
            }
            run.chars().collect::<Vec<_>>().windows(2).map(|pair| pair.iter().collect()).collect()
        };
        runs.flat_map(of_run).collect()
    };
    let asked = words(&query.words);
    let score = |lesson: &Lesson| {
        let about = match (query.focus.contains(&lesson.symbol), query.symbols.contains(&lesson.symbol)) {
            (true, _) => 6,
            (false, true) => 2,
            (false, false) => 0,
        };
        let value = match lesson.value_assessment {
            Assessment::Low => 0,
            Assessment::Medium => 1,
            Assessment::High => 2,
        };
        let text = format!("{} {} {}", lesson.symbol, lesson.summary, lesson.next_rules.join(" "));
        about + value + words(&text).intersection(&asked).count().min(6)
    };
    let mut ranked: Vec<&Lesson> = archive.iter().filter(|lesson| lesson.known_at <= instant).collect();
    ranked.sort_by_key(|lesson| {
        std::cmp::Reverse((!lesson.is_template, score(lesson), lesson.known_at, lesson.trade_id))
    });
    ranked.truncate(most);
    ranked
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Goal: the index, which grows with the archive, ranks like reading every text, ties included, before and after a
    /// round trip through the record.
    #[test]
    fn the_index_ranks_like_reading_every_text(
        lessons in prop::collection::vec((0_u64..40, 0_i64..9, 0_usize..3, 0_usize..3, any::<bool>(), "[a-d]{3} [a-d]{3}|突破均线 [a-c]{3}"), 0..80),
        first in 0_usize..80,
        instant in 0_i64..9,
        most in prop_oneof![0_usize..6, Just(usize::MAX)],
        words in "([a-d]{3} ){0,4}(均线)?",
    ) {
        let symbols = ["AAPL", "IBM", "MSFT"].map(Symbol::new);
        let query = Query { focus: BTreeSet::from([&symbols[0]]), symbols: symbols[..2].iter().collect(), words };
        let mut archive = Archive::default();
        for (at, (id, day_known, symbol, value, is_template, summary)) in lessons.into_iter().enumerate() {
            if at == first {
                // From here on, the index grows.
                let _ = rank_by_keyword(&archive, &query, day(instant), most);
            }
            let lesson = lesson(id, &symbols[symbol], day_known, value);
            archive.push(Lesson { is_template, summary, ..lesson });
        }
        let wanted = by_reading(&archive, &query, day(instant), most);
        prop_assert_eq!(&rank_by_keyword(&archive, &query, day(instant), most), &wanted);
        let read: Archive = serde_json::from_value(serde_json::to_value(&archive).expect("JSON")).expect("JSON");
        prop_assert_eq!(rank_by_keyword(&read, &query, day(instant), most), wanted);
    }
}

/// Goal: lessons about a held instrument rank before others, and those with words in common before newer
/// ones.
#[test]
fn lessons_are_those_that_say_the_most() {
    let (aapl, ibm) = (Symbol::new("AAPL"), Symbol::new("IBM"));
    let mut archive = Archive::default();
    archive.push(lesson(1, &aapl, 1, 0));
    let mut trend = lesson(2, &aapl, 2, 0);
    trend.summary = "bought the breakout above the average".to_owned();
    archive.push(trend);
    archive.push(lesson(3, &ibm, 3, 2));
    archive.push(lesson(4, &aapl, 4, 0));
    let query = Query {
        focus: BTreeSet::from([&aapl]),
        symbols: [&aapl, &ibm].into(),
        words: "[Next] is it a breakout above the average".to_owned(),
    };
    let told: Vec<u64> =
        rank_by_keyword(&archive, &query, day(9), 3).iter().map(|lesson| lesson.trade_id).collect();
    assert_eq!(told, [2, 4, 1]);
}

/// Goal: lessons from a template rank after all others, however relevant.
#[test]
fn templates_come_last() {
    let (held, other) = (Symbol::new("AAPL"), Symbol::new("XOM"));
    let mut archive = Archive::default();
    archive.push(Lesson { is_template: true, ..lesson(1, &held, 9, 2) });
    archive.push(lesson(2, &other, 1, 0));
    archive.push(Lesson { is_template: true, ..lesson(3, &held, 8, 2) });
    archive.push(lesson(4, &held, 2, 0));
    let query = Query { focus: BTreeSet::from([&held]), ..Query::default() };
    let order = |most| -> Vec<u64> {
        rank_by_keyword(&archive, &query, day(10), most).iter().map(|lesson| lesson.trade_id).collect()
    };
    assert_eq!(order(9), [4, 2, 1, 3]);
    assert_eq!(order(2), [4, 2]);
    let model: papertape_core::message::ModelName = "test::words".parse().expect("a model");
    let by_meaning = rank_hybrid(&archive, &query, (&model, &[1.0]), day(10), 9);
    assert_eq!(by_meaning.iter().map(|lesson| lesson.trade_id).collect::<Vec<_>>(), [4, 2, 1, 3]);
}

/// Goal: a log of events gives one reflection per closing: partial ones on the part they closed, with the
/// ledger's results, numbered across the log.
#[test]
fn a_log_is_reflected_on_once_for_every_closing() {
    let fill = |n: i64, cause, side, quantity: i64, price: i64| {
        let event = LedgerEvent::Fill(Fill {
            day: date(n),
            order: None,
            cause,
            symbol: Symbol::new("AAPL"),
            side,
            quantity: Quantity(quantity.into()),
            price: Price(price.into()),
            fee: Money::ZERO,
            slippage: Money::ZERO,
            leverage: Decimal::ONE,
            stop: (side == Side::Buy).then(|| Price(90.into())),
            target: None,
        });
        (day(n), event)
    };
    let log = [
        fill(1, FillCause::Order, Side::Buy, 10, 100),
        fill(2, FillCause::Order, Side::Buy, 10, 110),
        fill(3, FillCause::Order, Side::Sell, 5, 125),
        fill(4, FillCause::Stop, Side::Sell, 15, 90),
        fill(4, FillCause::Order, Side::Short, 5, 90),
        fill(5, FillCause::Order, Side::Cover, 5, 80),
    ];
    let account = Account::new("log", Money(100_000.into()));
    let rows = reflections_from_log(account.clone(), &log, Language::En, |at| at).expect("a log that can be");
    let told: Vec<_> = rows
        .iter()
        .map(|row| (row.trade_id, row.cause.as_str(), row.part, row.position_closed, row.pnl.0.to_string()))
        .collect();
    assert_eq!(
        told,
        [
            (1, "sell", 1, false, "100".to_owned()),
            (2, "stop", 2, true, "-225".to_owned()),
            (3, "cover", 1, true, "50".to_owned()),
        ]
    );
    assert_eq!(rows[1].execution_deviation.actual_size, Some(Quantity(20.into())), "the most that was held");
    assert_eq!(rows[1].execution_deviation.planned_entry, Some(Price(100.into())));
    assert_eq!((rows[1].side, rows[2].side), (Direction::Long, Direction::Short));
    assert!(rows.iter().all(|row| chars(&row.summary) <= 120 && row.note.is_some()));

    // An old log is compacted to one line per period, and the present period is left out.
    let folded = fold(Period::Quarter, &rows, date(200));
    assert_eq!(folded.len(), 1);
    assert_eq!((folded[0].trades, folded[0].wins, folded[0].pnl), (3, 2, Money((-75).into())));
    assert!(fold(Period::HalfYear, &rows, date(5)).is_empty());
    let impossible = [fill(1, FillCause::Order, Side::Sell, 1, 1)];
    assert!(reflections_from_log(account, &impossible, Language::En, |at| at).is_err());
}

/// Goal: settings out of range are rejected by name, and modes have a single spelling.
#[test]
fn settings_are_checked() {
    let fine = MemorySettings::default();
    assert_eq!(fine.check(), Ok(()));
    let wide = MemorySettings { read_window: 11, ..fine };
    assert_eq!(wide.check().map_err(|(field, _)| field), Err("read_window"));
    let none = MemorySettings { keep_rounds: 0, ..fine };
    assert_eq!(none.check().map_err(|(field, _)| field), Err("keep_rounds"));
    assert_eq!("rounds+open".parse(), Ok(MemoryMode::RoundsOpen));
    assert!("some".parse::<MemoryMode>().is_err());
}

pub(crate) fn day(n: i64) -> Timestamp {
    from_micros((n + 15_000) * 86_400_000_000).expect("an instant")
}

fn date(n: i64) -> Date {
    day(n).to_zoned(jiff::tz::TimeZone::UTC).date()
}

pub(crate) fn lesson(trade_id: u64, symbol: &Symbol, known: i64, value: usize) -> Lesson {
    Lesson {
        trade_id,
        origin: Origin::default(),
        symbol: symbol.clone(),
        side: Direction::Long,
        entry_time: day(known),
        exit_time: day(known),
        cause: "sell".to_owned(),
        pnl: Money(1.into()),
        return_pct: None,
        summary: "it went".to_owned(),
        error_tags: Vec::new(),
        value_assessment: [Assessment::Low, Assessment::Medium, Assessment::High][value],
        next_rules: Vec::new(),
        is_template: false,
        known_at: day(known),
        meaning: None,
    }
}

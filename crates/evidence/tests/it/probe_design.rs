//! The items of a memorization quiz.

use crate::support::Lcg;
use papertape_core::time::Date;
use papertape_evidence::{
    DailyClose, ItemOutcome, PARAPHRASES, PriceHistory, Quiz, QuizControls, QuizDesign, QuizItem, QuizKind,
    QuizResponse, design_quiz, kind_reports,
};
use std::collections::{BTreeMap, BTreeSet};

/// Weekdays from 2001 to 2008, with a split of the first symbol in 2004.
fn histories(symbols: usize) -> Vec<PriceHistory> {
    let first = jiff::civil::date(2001, 1, 1);
    let is_weekday = |day: &Date| day.weekday().to_monday_zero_offset() < 5;
    let days: Vec<Date> = first
        .series(jiff::Span::new().days(1))
        .filter(is_weekday)
        .take_while(|day| day.year() < 2009)
        .collect();
    (0..symbols)
        .map(|symbol| {
            let mut lcg = Lcg::new(symbol as u64 + 3);
            let mut price = 40.0;
            let closes = days.iter().map(|day| {
                price *= 1.0 + 0.04 * (lcg.next() - 0.5);
                let before_split = symbol == 0 && *day < jiff::civil::date(2004, 6, 1);
                DailyClose {
                    date: *day,
                    quoted: if before_split { 2.0 * price } else { price },
                    adjusted: price,
                }
            });
            let name = format!("Company {symbol}");
            PriceHistory { symbol: format!("S{symbol}"), name, closes: closes.collect() }
        })
        .collect()
}

fn design(histories: &[PriceHistory], cutoff: Option<&str>, seed: u64) -> Quiz {
    let cutoff = cutoff.map(|date| date.parse().expect("a date"));
    let kinds = &QuizKind::ALL;
    design_quiz(histories, &QuizDesign { dataset: "d", kinds, items_per_kind: 100, cutoff, seed })
}

fn of(quiz: &Quiz, kind: QuizKind, is_control: bool) -> Vec<&QuizItem> {
    quiz.items.iter().filter(|item| item.kind == kind && item.is_control == is_control).collect()
}

/// The symbol and month in an item's key.
fn place(item: &QuizItem) -> (&str, i32) {
    (item.key.split('-').nth(1).expect("a symbol"), item.month)
}

fn close(history: &PriceHistory, month: i32) -> f64 {
    let is_in =
        |close: &&DailyClose| i32::from(close.date.year()) * 12 + i32::from(close.date.month()) - 1 == month;
    history.closes.iter().rfind(is_in).expect("a month").adjusted
}

// Goal: the same input gives the same items, another seed gives others; items and controls are as many, keys are unique.
#[test]
fn items_are_deterministic() {
    let histories = histories(5);
    let quiz = design(&histories, None, 1);
    assert_eq!(quiz, design(&histories, None, 1));
    assert_ne!(quiz, design(&histories, None, 2));
    assert_eq!(quiz.controls, QuizControls::Altered);
    for kind in QuizKind::ALL {
        let (items, controls) = (of(&quiz, kind, false), of(&quiz, kind, true));
        assert_eq!(items.len(), controls.len(), "{kind:?}");
        assert_eq!(items.len(), 100, "{kind:?}");
        assert!(items.iter().all(|item| item.choices.len() == usize::from(kind.choices())), "{kind:?}");
    }
    let keys: BTreeSet<&str> = quiz.items.iter().map(|item| item.key.as_str()).collect();
    assert_eq!(keys.len(), quiz.items.len());
}

// Goal: in half of a symbol's direction items the month rose, the right choice is the real one, and each month is named
// once. A model that knows the real direction is right on all items and on half of the controls.
#[test]
fn directions_are_balanced() {
    let histories = histories(5);
    let quiz = design(&histories, None, 1);
    let rose = |symbol: &str, month: i32| {
        let history = histories.iter().find(|history| history.symbol == symbol).expect("a symbol");
        close(history, month) > close(history, month - 1)
    };
    let mut by_symbol: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for item in of(&quiz, QuizKind::Direction, false) {
        let (symbol, month) = place(item);
        assert_eq!(item.truth == 0, rose(symbol, month), "{}", item.key);
        let counts = by_symbol.entry(symbol).or_default();
        *(if item.truth == 0 { &mut counts.0 } else { &mut counts.1 }) += 1;
    }
    assert!(by_symbol.len() == 5 && by_symbol.values().all(|(up, down)| up == down), "{by_symbol:?}");
    let controls = of(&quiz, QuizKind::Direction, true);
    let known = controls.iter().filter(|item| (item.truth == 0) == rose(place(item).0, item.month)).count();
    assert_eq!(2 * known, controls.len(), "the real direction says nothing about a control");
    let months: BTreeSet<(&str, i32)> = controls.iter().map(|item| place(item)).collect();
    assert_eq!(months.len(), controls.len());
}

// Goal: the four levels differ by at least 3%, the right one is the quoted close, and no choice of a control is the real
// price of the month that it names.
#[test]
fn levels_are_quoted_closes_of_near_months() {
    let histories = histories(5);
    let quiz = design(&histories, None, 1);
    for item in quiz.items.iter().filter(|item| item.kind == QuizKind::Level) {
        let mut prices: Vec<f64> = item.choices.iter().map(|text| text.parse().expect("a price")).collect();
        let (symbol, month) = place(item);
        let history = histories.iter().find(|history| history.symbol == symbol).expect("a symbol");
        let is_split = symbol == "S0" && month < 2004 * 12 + 5;
        let real = close(history, month) * if is_split { 2.0 } else { 1.0 };
        let right = prices[usize::from(item.truth)];
        assert_eq!((right - real).abs() < 0.006, !item.is_control, "{}: {right} {real}", item.key);
        prices.sort_by(f64::total_cmp);
        assert!(prices.windows(2).all(|pair| pair[1] / pair[0] > 1.029), "{prices:?}");
    }
}

// Goal: a chart of a date item names no date, and one of a company item no company; three wordings differ, shuffle the
// choices, and read the same choice back.
#[test]
fn charts_are_masked_and_wordings_differ() {
    let quiz = design(&histories(5), None, 1);
    let mut orders = BTreeSet::new();
    for item in &quiz.items {
        let prompts: Vec<_> = (0..PARAPHRASES).map(|wording| item.prompt(wording)).collect();
        let texts: BTreeSet<&str> = prompts.iter().map(|prompt| prompt.text.as_str()).collect();
        assert_eq!(texts.len(), PARAPHRASES);
        for prompt in &prompts {
            let question = prompt.text.split("\n\nA) ").next().expect("a question");
            let hides = |text: &str| !question.contains(text);
            match item.kind {
                QuizKind::Date => assert!(hides("200"), "{question}"),
                QuizKind::Company => assert!(hides("S0") && hides("Company"), "{question}"),
                QuizKind::Direction | QuizKind::Level => assert!(!hides("200"), "{question}"),
            }
            let right = &item.choices[usize::from(item.truth)];
            let line =
                prompt.text.lines().find(|line| line.get(3..) == Some(right)).expect("the right choice");
            assert_eq!(prompt.read(&line[..1]), QuizResponse::Choice(item.truth));
            orders.insert(line[..1].to_owned());
        }
    }
    assert_eq!(orders.len(), 4, "the right choice has every letter");
}

// Goal: if at least 12 months follow the cut-off, all controls are from those months, and no item is.
#[test]
fn months_after_the_cutoff_are_controls() {
    let quiz = design(&histories(5), Some("2006-06-30"), 1);
    assert_eq!(quiz.controls, QuizControls::AfterCutoff);
    for item in &quiz.items {
        assert_eq!(item.is_control, item.month > 2006 * 12 + 5, "{}", item.key);
    }
    assert!(!of(&quiz, QuizKind::Direction, true).is_empty());
    let quiz = design(&histories(5), Some("2008-10-31"), 1);
    assert_eq!(quiz.controls, QuizControls::Altered, "too few months are left");
    assert!(quiz.items.iter().all(|item| item.month <= 2008 * 12 + 9));
}

// Goal: fewer than four symbols give no company items, and less than a year of prices gives no items at all.
#[test]
fn what_cannot_be_asked_is_left_out() {
    let few = histories(3);
    let quiz = design(&few, None, 1);
    assert!(of(&quiz, QuizKind::Company, false).is_empty() && !of(&quiz, QuizKind::Date, false).is_empty());
    let short: Vec<PriceHistory> = few
        .into_iter()
        .map(|history| PriceHistory { closes: history.closes[..30].to_vec(), ..history })
        .collect();
    assert!(design(&short, None, 1).items.is_empty());
    assert!(design(&[], None, 1).items.is_empty());
}

// Goal: a model that recalls is shown to, kind by kind; one that guesses is not; one that declines everything cannot be
// tested.
#[test]
fn reports_follow_the_responses() {
    let quiz = design(&histories(5), None, 1);
    let report = |choose: &mut dyn FnMut(&QuizItem) -> QuizResponse| {
        let outcome = |item| ItemOutcome { responses: vec![choose(item); PARAPHRASES], failed_calls: 0 };
        let outcomes: Vec<ItemOutcome> = quiz.items.iter().map(outcome).collect();
        let reports = kind_reports(&QuizKind::ALL, &quiz.items, &outcomes, "d");
        reports.iter().map(|report| report.verdict.words()).collect::<Vec<_>>()
    };
    let mut lcg = Lcg::new(9);
    let mut guess =
        |item: &QuizItem| QuizResponse::Choice((lcg.next() * f64::from(item.kind.choices())) as u8);
    let recalls = report(&mut |item| match item.is_control {
        false => QuizResponse::Choice(item.truth),
        true => guess(item),
    });
    assert_eq!(recalls, ["recall shown"; 4]);
    let guesses = report(&mut guess);
    assert!(guesses.iter().all(|words| words.starts_with("not shown (would have seen ≥ ")), "{guesses:?}");
    assert_eq!(report(&mut |_| QuizResponse::Declined), ["not testable"; 4]);
}

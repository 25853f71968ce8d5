//! Known results for limits on fills: participation, price limits and lots.

use crate::books_support::{
    bars, check, close, day, dec, money, order, pre_day, price, prices, quantity, trade,
};
use papertape_core::broker::{
    Board, Books, Conditions, FillModel, KnownVolume, MarketProfile, Order, PriceBand, Quote, RejectCode,
    Rejection, Side, Submission, approve, approve_largest, bar, submit,
};
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use std::collections::BTreeMap;

const D1: &str = "2024-01-02";
const D2: &str = "2024-01-03";

fn volume(mean: &str, bars: u16) -> Conditions {
    Conditions { volume: Some(KnownVolume { mean: quantity(mean), bars }), ..Conditions::default() }
}

fn limits(previous: &str, percent: &str) -> Conditions {
    let band = PriceBand::around(price(previous), dec(percent)).expect("fits");
    Conditions { band: Some(band), ..Conditions::default() }
}

/// A market without costs that has the participation cap.
fn capped(name: &str) -> MarketProfile {
    let preset = MarketProfile::preset(name).expect("a preset");
    MarketProfile { participation: preset.participation, ..preset.frictionless() }
}

fn refused(books: &Books, on: &str, at: &str, under: Conditions, order: Order) -> Rejection {
    let quote = Quote::at(order.symbol.clone(), day(on), price(at)).under(under);
    approve(books.account(), books.profile(), &quote, order).expect_err("refused")
}

fn filled(books: &mut Books, on: &str, at: &str, under: Conditions, order: Order) {
    let quote = Quote::at(order.symbol.clone(), day(on), price(at)).under(under);
    let approved = approve(books.account(), books.profile(), &quote, order).expect("allowed");
    submit(books, approved).expect("fresh");
}

/// Goal: 1 % of a mean volume of 12,345 is 123.45: 123 shares are bought, 124 are not; what was already
/// traded that day counts, both ways; the next day starts again.
#[test]
fn a_capped_order_is_rejected_with_what_is_admissible() {
    let mut books = Books::new("ada", capped("us_equity"), money("100000"));
    let asked = order(&mut books, Side::Buy, "X", "124");
    let rejection = refused(&books, D1, "10", volume("12345", 20), asked);
    assert_eq!(rejection.code, RejectCode::ParticipationCap);
    assert_eq!(rejection.numbers["largest"], dec("123"));
    assert_eq!((rejection.numbers["mean_volume"], rejection.numbers["bars"]), (dec("12345"), dec("20")));
    assert!(
        rejection.message.contains("The largest admissible quantity is 123; 124 were requested"),
        "{rejection:?}"
    );
    let first = order(&mut books, Side::Buy, "X", "100");
    filled(&mut books, D1, "10", volume("12345", 20), first);
    let more = order(&mut books, Side::Buy, "X", "24");
    let rejection = refused(&books, D1, "10", volume("12345", 20), more);
    assert_eq!((rejection.numbers["largest"], rejection.numbers["traded"]), (dec("23"), dec("100")));
    let sale = order(&mut books, Side::Sell, "X", "24");
    assert_eq!(refused(&books, D1, "10", volume("12345", 20), sale).code, RejectCode::ParticipationCap);
    let other = order(&mut books, Side::Buy, "Y", "123");
    filled(&mut books, D1, "10", volume("12345", 20), other);
    let tomorrow = order(&mut books, Side::Buy, "X", "123");
    filled(&mut books, D2, "10", volume("12345", 20), tomorrow);
    // Without a cap, or without a known volume, any quantity is allowed.
    let all = order(&mut books, Side::Sell, "X", "223");
    filled(&mut books, "2024-01-04", "10", Conditions::default(), all);
    let mut free = Books::new("ada", MarketProfile::us_equity().frictionless(), money("100000"));
    let many = order(&mut free, Side::Buy, "X", "5000");
    filled(&mut free, D1, "10", volume("10", 20), many);
}

/// Goal: the cap with lots of 100: 1 % of 25,000 is 250, of which 200 are allowed; an odd holding within the
/// cap can be closed whole.
#[test]
fn what_is_admissible_is_whole_lots() {
    let mut books = Books::new("ada", capped("cn_a_share"), money("100000"));
    let asked = order(&mut books, Side::Buy, "600519", "300");
    assert_eq!(refused(&books, D1, "10", volume("25000", 20), asked).numbers["largest"], dec("200"));
    let none = order(&mut books, Side::Buy, "600519", "100");
    assert_eq!(refused(&books, D1, "10", volume("9900", 20), none).numbers["largest"], dec("0"));
}

/// Goal: stops fill at any volume, and count towards the day's.
#[test]
fn forced_closes_are_exempt_and_count() {
    let mut books = Books::new("ada", capped("us_equity"), money("100000"));
    let mut buy = order(&mut books, Side::Buy, "X", "100");
    buy.stop = Some(price("9"));
    filled(&mut books, D1, "10", volume("10000", 20), buy);
    books.set_conditions(BTreeMap::from([(Symbol::new("X"), volume("1", 20))]));
    let out = bar(&mut books, day(D1), &bars(&[("X", ["10", "10", "8", "8"])])).expect("a bar");
    assert_eq!(out.entries.len(), 1);
    assert_eq!(books.account().traded_on(day(D1), &Symbol::new("X")), quantity("200"));
}

/// Goal: an order for the next open is checked again there against the volume known then; in books that
/// reduce orders it fills with the allowed quantity.
#[test]
fn waiting_orders_are_capped_where_they_fill() {
    for reduces in [false, true] {
        let mut profile = capped("us_equity");
        profile.fill_model = FillModel::NextOpen;
        let mut books = Books::new("ada", profile, money("100000"));
        if reduces {
            books = books.reducing();
        }
        let buy = order(&mut books, Side::Buy, "X", "100");
        filled(&mut books, D1, "10", volume("10000", 20), buy);
        close(&mut books, day(D1), &prices(&[("X", "10")])).expect("a close");
        books.set_conditions(BTreeMap::from([(Symbol::new("X"), volume("9000", 20))]));
        let out = pre_day(&mut books, day(D2), &prices(&[("X", "10")]), &[]);
        if reduces {
            let fill = out.entries[0].fill().expect("a fill");
            assert_eq!((fill.quantity, books.reduced()), (quantity("90"), 1));
        } else {
            assert_eq!(out.rejections[0].code, RejectCode::ParticipationCap);
        }
    }
}

/// Goal: in books that reduce orders, insufficient cash buys what it can, fees included, and a sale of more
/// than is held sells the holding.
#[test]
fn reduced_orders_are_covered() {
    let mut books = Books::new("ada", MarketProfile::us_equity(), money("1000")).reducing();
    let buy = order(&mut books, Side::Buy, "X", "100");
    let quote = Quote::at(Symbol::new("X"), day(D1), price("10"));
    let approved = approve_largest(&mut books, &quote, buy).expect("reduced");
    // 10.01 each and a commission of 1: 99 cost 991.99, 100 would cost 1,002.
    assert_eq!(approved.get().quantity, quantity("99"));
    submit(&mut books, approved).expect("fresh");
    let sale = order(&mut books, Side::Sell, "X", "200");
    let approved = approve_largest(&mut books, &quote, sale).expect("reduced");
    assert_eq!(approved.get().quantity, quantity("99"));
    let mut strict = Books::new("ada", MarketProfile::us_equity(), money("1000"));
    let buy = order(&mut strict, Side::Buy, "X", "100");
    assert!(approve_largest(&mut strict, &quote, buy).is_err());
}

/// Goal: limits are measured from the previous close, half up to 0.01: 10 % of 10.05 is 11.055, so 11.06, and
/// 9.045, so 9.05.
#[test]
fn limits_are_rounded_half_up() {
    for (previous, percent, up, down) in [
        ("10.05", "10", "11.06", "9.05"),
        ("10", "10", "11", "9"),
        ("3.33", "5", "3.5", "3.16"),
        ("27.77", "20", "33.32", "22.22"),
        ("0.05", "30", "0.07", "0.04"),
    ] {
        let band = PriceBand::around(price(previous), dec(percent)).expect("fits");
        assert_eq!((band.up, band.down), (price(up), price(down)), "{previous} {percent}");
    }
}

/// Goal: no buys at limit up and no sells at limit down; the opposite side is allowed.
#[test]
fn nobody_buys_at_limit_up_or_sells_at_limit_down() {
    let mut books = Books::new("ada", MarketProfile::cn_a_share().frictionless(), money("100000"));
    let under = limits("10.05", "10");
    let buy = order(&mut books, Side::Buy, "600519", "100");
    let rejection = refused(&books, D1, "11.06", under, buy.clone());
    assert_eq!((rejection.code, rejection.numbers["limit"]), (RejectCode::LimitUp, dec("11.06")));
    filled(&mut books, D1, "11.05", under, buy);
    let sale = order(&mut books, Side::Sell, "600519", "100");
    let rejection = refused(&books, D2, "9.05", under, sale.clone());
    assert_eq!((rejection.code, rejection.numbers["limit"]), (RejectCode::LimitDown, dec("9.05")));
    filled(&mut books, D2, "11.06", under, sale);
    let buy = order(&mut books, Side::Buy, "600519", "100");
    filled(&mut books, D2, "9.05", under, buy);
}

/// Goal: slippage takes no fill beyond a price limit, neither a buy, a sell nor a stop that the open has
/// gapped below; its cost ends at the limit.
#[test]
fn slippage_ends_at_the_price_limit() {
    let profile = MarketProfile { slippage_bps: dec("100"), ..MarketProfile::cn_a_share().frictionless() };
    let mut books = Books::new("ada", profile, money("100000"));
    let under = limits("10", "10");
    let fill_of = |books: &mut Books, on: &str, at: &str, order: Order| {
        let quote = Quote::at(order.symbol.clone(), day(on), price(at)).under(under);
        let approved = approve(books.account(), books.profile(), &quote, order).expect("allowed");
        let Submission::Filled(entry) = submit(books, approved).expect("fresh") else { panic!("rejected") };
        entry.fill().map(|fill| (fill.price, fill.slippage)).expect("a fill")
    };
    let mut buy = order(&mut books, Side::Buy, "600519", "200");
    buy.stop = Some(price("9.6"));
    assert_eq!(fill_of(&mut books, D1, "10.99", buy), (price("11"), money("2")));
    close(&mut books, day(D1), &prices(&[("600519", "10")])).expect("a close");
    let sale = order(&mut books, Side::Sell, "600519", "100");
    assert_eq!(fill_of(&mut books, D2, "9.05", sale), (price("9"), money("5")));
    books.set_conditions(BTreeMap::from([(Symbol::new("600519"), under)]));
    let stopped = pre_day(&mut books, day(D2), &prices(&[("600519", "9.02")]), &[]);
    assert_eq!(stopped.entries[0].fill().map(|fill| fill.price), Some(price("9")));
}

/// Goal: a bar locked at limit down triggers no stop, neither at its open nor intraday; one that opens there
/// and trades higher does.
#[test]
fn a_locked_bar_triggers_no_stop() {
    let mut books = Books::new("ada", MarketProfile::cn_a_share().frictionless(), money("100000"));
    let mut buy = order(&mut books, Side::Buy, "600519", "100");
    buy.stop = Some(price("9.5"));
    trade(&mut books, day(D1), "10", buy);
    close(&mut books, day(D1), &prices(&[("600519", "10")])).expect("a close");
    let conditions = BTreeMap::from([(Symbol::new("600519"), limits("10", "10"))]);
    books.set_conditions(conditions.clone());
    let locked = bars(&[("600519", ["9", "9", "9", "9"])]);
    assert!(pre_day(&mut books, day(D2), &prices(&[("600519", "9")]), &[]).entries.is_empty());
    let mut open_again = books.clone();
    assert!(bar(&mut books, day(D2), &locked).expect("a bar").entries.is_empty());
    let out = bar(&mut open_again, day(D2), &bars(&[("600519", ["9", "9.3", "9", "9.2"])])).expect("a bar");
    assert_eq!(out.entries[0].fill().map(|fill| fill.price), Some(price("9")));
}

/// Goal: each board has its limit by date, also for ST shares, and a new listing has none on its first days.
#[test]
fn boards_have_their_limits_by_date() {
    let cn = MarketProfile::cn_a_share();
    // Symbol, day, ST, days listed, limit.
    type Row = (&'static str, &'static str, bool, Option<usize>, Option<&'static str>);
    let table: [Row; 25] = [
        ("600519", "1996-12-15", false, None, None),
        ("600519", "1996-12-16", false, None, Some("10")),
        ("600519", "1998-04-21", true, None, Some("10")),
        ("600519", "1998-04-22", true, None, Some("5")),
        ("000001.SZ", "2026-07-05", true, None, Some("5")),
        ("000001.SZ", "2026-07-06", true, None, Some("10")),
        ("300750", "2020-08-23", false, None, Some("10")),
        ("300750", "2020-08-23", true, None, Some("5")),
        ("300750", "2020-08-24", false, None, Some("20")),
        ("300750", "2020-08-24", true, None, Some("20")),
        ("688981.SH", "2020-07-16", false, Some(5), None),
        ("688981.SH", "2020-07-23", false, Some(6), Some("20")),
        ("835185", "2021-11-14", false, None, None),
        ("835185", "2021-11-15", false, None, Some("30")),
        ("920819.BJ", "2024-01-02", false, Some(1), None),
        ("430047", "2024-01-02", false, Some(2), Some("30")),
        ("600519", "2023-04-09", false, Some(1), None),
        ("600519", "2023-04-09", false, Some(2), Some("10")),
        ("600519", "2023-04-10", false, Some(5), None),
        ("600519", "2026-07-06", false, Some(5), None),
        ("600519", "2023-04-10", false, Some(6), Some("10")),
        ("300750", "2020-08-23", false, Some(2), Some("10")),
        ("300750", "2020-08-24", false, Some(5), None),
        ("510300", "2024-01-02", false, None, None),
        ("000300.SH", "2024-01-02", false, None, None),
    ];
    for (symbol, on, is_st, listed, expected) in table {
        let found = cn.price_limit(&Symbol::new(symbol), day(on), is_st, listed);
        assert_eq!(found, expected.map(dec), "{symbol} {on} {is_st} {listed:?}");
    }
    let us = MarketProfile::us_equity();
    assert_eq!(us.price_limit(&Symbol::new("600519"), day(D1), false, None), None);
}

/// Goal: the board follows from the symbol, with or without its exchange; other symbols have no board.
#[test]
fn symbols_say_their_board() {
    for (symbol, board) in [
        ("600519", Some(Board::Main)),
        ("SH600519", Some(Board::Main)),
        ("sz.002594", Some(Board::Main)),
        ("688111.XSHG", Some(Board::Star)),
        ("301236.XSHE", Some(Board::ChiNext)),
        ("872925.BJ", Some(Board::Bse)),
        ("600519.SZ", None),
        ("000001.SH", None),
        ("159915", None),
        ("900901", None),
        ("AAPL", None),
        ("60051", None),
    ] {
        assert_eq!(Board::of(&Symbol::new(symbol)), board, "{symbol}");
    }
}

/// Goal: STAR takes 200 and more in steps of 1, Beijing 100 and more, the other boards lots of 100; an odd
/// remainder can only be sold whole.
#[test]
fn boards_have_their_lots() {
    let mut books = Books::new("ada", MarketProfile::cn_a_share().frictionless(), money("1000000"));
    let table = [
        ("600519", "100", true),
        ("600519", "150", false),
        ("300750", "250", false),
        ("688111", "199", false),
        ("688111", "200", true),
        ("688111", "201", true),
        ("688111", "200.5", false),
        ("835185", "99", false),
        ("835185", "101", true),
    ];
    for (symbol, amount, is_allowed) in table {
        let buy = order(&mut books, Side::Buy, symbol, amount);
        let found = check(&books, day(D1), "10", buy);
        assert_eq!(found.is_ok(), is_allowed, "{symbol} {amount}");
        if let Err(rejection) = found {
            assert_eq!(rejection.code, RejectCode::LotSize);
        }
    }
    let buy = order(&mut books, Side::Buy, "688111", "350");
    trade(&mut books, day(D1), "10", buy);
    let part = order(&mut books, Side::Sell, "688111", "250");
    trade(&mut books, day(D2), "10", part);
    let odd = order(&mut books, Side::Sell, "688111", "50");
    assert_eq!(check(&books, day(D2), "10", odd).expect_err("odd").code, RejectCode::LotSize);
    let rest = order(&mut books, Side::Sell, "688111", "100");
    trade(&mut books, day(D2), "10", rest);
    // A 3-for-2 split turns a waiting order of 250 STAR shares into 375, and one of 100 on the main board
    // stays at 100.
    let mut later = MarketProfile::cn_a_share().frictionless();
    later.fill_model = FillModel::NextOpen;
    let mut books = Books::new("ada", later, money("1000000"));
    for (symbol, amount) in [("688111", "250"), ("600519", "100")] {
        let buy = order(&mut books, Side::Buy, symbol, amount);
        filled(&mut books, D1, "10", Conditions::default(), buy);
    }
    let split = |symbol: &str| CorporateAction {
        symbol: Symbol::new(symbol),
        ex_date: day(D2),
        kind: CorporateActionKind::Split { ratio: dec("1.5") },
    };
    let actions = [split("688111"), split("600519")];
    let out = pre_day(&mut books, day(D2), &prices(&[("688111", "6.67"), ("600519", "6.67")]), &actions);
    let amounts: Vec<_> = out.entries.iter().filter_map(|entry| Some(entry.fill()?.quantity)).collect();
    assert_eq!(amounts, [quantity("375"), quantity("100")]);
}

/// Goal: invalid conditions in a profile are errors that name the field.
#[test]
fn nonsense_in_conditions_is_named() {
    type Change = fn(&mut MarketProfile);
    let cases: [(Change, &str); 4] = [
        (|p| p.participation.as_mut().expect("a cap").share_pct = dec("0"), "participation"),
        (|p| p.participation.as_mut().expect("a cap").bars = 0, "participation"),
        (|p| p.price_limits[0].percent = dec("100"), "price_limits"),
        (|p| p.board_lots[0].step = quantity("0"), "board_lots"),
    ];
    for (change, expected) in cases {
        let mut profile = MarketProfile::cn_a_share();
        change(&mut profile);
        let problem = profile.validate().expect_err("nonsense");
        assert!(problem.starts_with(expected), "{problem}");
    }
}

//! Known trading costs by profile and date, worked out by hand.

use crate::books_support::{bars, close, day, dec, money, order, pre_day, price, prices, trade};
use papertape_core::broker::{
    Books, FeeInput, FeeSchedule, FillModel, FillTiming, InstrumentClass, MarketProfile, Side, bar,
};
use papertape_core::id::Symbol;
use papertape_core::ledger::LedgerEvent;
use papertape_core::money::Money;

/// The parts of a fill's fee, by name, at the price including the profile's slippage for `open`.
fn parts(
    profile: &MarketProfile,
    on: &str,
    side: Side,
    symbol: &str,
    amount: &str,
    at: &str,
) -> Vec<(String, Money)> {
    let mut profile = profile.clone();
    profile.lends = true;
    let mut books = Books::new("ada", profile, money("1000000000"));
    let closes = !side.opens();
    if closes {
        let opening = if side == Side::Sell { Side::Buy } else { Side::Short };
        let first = order(&mut books, opening, symbol, amount);
        trade(&mut books, day("1996-01-02"), at, first);
    }
    let second = order(&mut books, side, symbol, amount);
    let entry = trade(&mut books, day(on), at, second);
    let fill = entry.fill().expect("a fill");
    let input = FeeInput {
        day: fill.day,
        symbol: &fill.symbol,
        side: fill.side,
        quantity: fill.quantity,
        price: fill.price,
    };
    let parts = books.profile().fee_parts(&input).expect("fits");
    let sum = parts.iter().fold(Money::ZERO, |sum, part| sum + part.amount);
    assert_eq!(sum, fill.fee, "the parts are the fee of the books");
    parts.into_iter().map(|part| (part.name, part.amount)).collect()
}

fn named(pairs: &[(&str, &str)]) -> Vec<(String, Money)> {
    let named = pairs.iter().filter(|(_, amount)| *amount != "0");
    named.map(|(name, amount)| ((*name).to_owned(), money(amount))).collect()
}

/// Goal: 10,000 shares of 100.00, sold at 99.90 for 999,000, pay a commission of 0.005 per share and the
/// day's SEC and FINRA fees, rounded up to the cent; a purchase pays only the commission.
#[test]
fn us_shares_pay_the_fees_of_their_day() {
    let us = MarketProfile::us_equity();
    let table = [
        ("2000-01-03", "24.98", "0.75"),
        ("2011-06-30", "24.98", "0.75"),
        ("2011-07-01", "24.98", "0.9"),
        ("2012-02-29", "24.98", "0.9"),
        ("2012-03-01", "24.98", "0.95"),
        ("2012-03-31", "24.98", "0.95"),
        ("2012-04-01", "22.38", "0.95"),
        ("2012-06-30", "22.38", "0.95"),
        ("2012-07-01", "22.38", "1.19"),
        ("2013-05-24", "22.38", "1.19"),
        ("2013-05-25", "17.39", "1.19"),
        ("2014-03-17", "17.39", "1.19"),
        ("2014-03-18", "22.08", "1.19"),
        ("2015-02-13", "22.08", "1.19"),
        ("2015-02-14", "18.39", "1.19"),
        ("2016-02-15", "18.39", "1.19"),
        ("2016-02-16", "21.78", "1.19"),
        ("2017-07-03", "21.78", "1.19"),
        ("2017-07-04", "23.08", "1.19"),
        ("2018-05-21", "23.08", "1.19"),
        ("2018-05-22", "12.99", "1.19"),
        ("2019-04-15", "12.99", "1.19"),
        ("2019-04-16", "20.68", "1.19"),
        ("2020-02-17", "20.68", "1.19"),
        ("2020-02-18", "22.08", "1.19"),
        ("2021-02-24", "22.08", "1.19"),
        ("2021-02-25", "5.1", "1.19"),
        ("2021-12-31", "5.1", "1.19"),
        ("2022-01-01", "5.1", "1.3"),
        ("2022-05-13", "5.1", "1.3"),
        ("2022-05-14", "22.88", "1.3"),
        ("2022-12-31", "22.88", "1.3"),
        ("2023-01-01", "22.88", "1.45"),
        ("2023-02-26", "22.88", "1.45"),
        ("2023-02-27", "8", "1.45"),
        ("2023-12-31", "8", "1.45"),
        ("2024-01-01", "8", "1.66"),
        ("2024-05-21", "8", "1.66"),
        ("2024-05-22", "27.78", "1.66"),
        ("2025-05-13", "27.78", "1.66"),
        ("2025-05-14", "0", "1.66"),
        ("2025-12-31", "0", "1.66"),
        ("2026-01-01", "0", "1.95"),
        ("2026-04-03", "0", "1.95"),
        ("2026-04-04", "20.58", "1.95"),
        ("2026-12-31", "20.58", "1.95"),
        ("2027-01-01", "20.58", "2.32"),
    ];
    for (on, sec, taf) in table {
        let sold = named(&[("commission", "50"), ("sec_fee", sec), ("finra_taf", taf)]);
        for side in [Side::Sell, Side::Short] {
            assert_eq!(parts(&us, on, side, "X", "10000", "100"), sold, "{side} on {on}");
        }
        for side in [Side::Buy, Side::Cover] {
            let bought = named(&[("commission", "50")]);
            assert_eq!(parts(&us, on, side, "X", "10000", "100"), bought, "{side} on {on}");
        }
    }
}

/// Goal: a commission is at least 1.00 and at most 1 % of the value, and the maximum wins when the two
/// conflict; the activity fee has its cap per trade.
#[test]
fn minimums_and_maximums_hold() {
    let us = MarketProfile::us_equity();
    let bought = |amount, at| parts(&us, "2025-06-02", Side::Buy, "X", amount, at);
    // 100 x 50.05 = 5,005: 0.50 per share, raised to 1.
    assert_eq!(bought("100", "50"), named(&[("commission", "1")]));
    // 1,000 x 0.2002 = 200.20: 5.00 per share, capped at 2.002, in cents 2.
    assert_eq!(bought("1000", "0.2"), named(&[("commission", "2")]));
    // 10 x 5.005 = 50.05: the minimum of 1 is above 1 % of the value, 0.5005.
    assert_eq!(bought("10", "5"), named(&[("commission", "0.5")]));
    // 100,000 shares: 0.000166 per share would be 16.60.
    let sold = parts(&us, "2025-06-02", Side::Sell, "X", "100000", "10");
    assert_eq!(sold, named(&[("commission", "500"), ("finra_taf", "8.3")]));
}

/// Goal: 10,000 A shares of 10.00, bought at 10.01 for 100,100 and sold at 9.99 for 99,900, pay commission,
/// stamp duty and transfer fee by the bands of their day; a fund pays only the commission.
#[test]
fn a_shares_pay_the_duties_of_their_day() {
    let cn = MarketProfile::cn_a_share();
    // Commission, duty and transfer fee of a purchase, then of a sale.
    let table = [
        ("2001-11-15", ["80.08", "400.4", "0"], ["79.92", "399.6", "0"]),
        ("2001-11-16", ["80.08", "200.2", "0"], ["79.92", "199.8", "0"]),
        ("2005-01-23", ["80.08", "200.2", "0"], ["79.92", "199.8", "0"]),
        ("2005-01-24", ["80.08", "100.1", "0"], ["79.92", "99.9", "0"]),
        ("2007-05-29", ["80.08", "100.1", "0"], ["79.92", "99.9", "0"]),
        ("2007-05-30", ["80.08", "300.3", "0"], ["79.92", "299.7", "0"]),
        ("2008-04-23", ["80.08", "300.3", "0"], ["79.92", "299.7", "0"]),
        ("2008-04-24", ["80.08", "100.1", "0"], ["79.92", "99.9", "0"]),
        ("2008-09-18", ["80.08", "100.1", "0"], ["79.92", "99.9", "0"]),
        ("2008-09-19", ["80.08", "0", "0"], ["79.92", "99.9", "0"]),
        ("2015-04-12", ["80.08", "0", "0"], ["79.92", "99.9", "0"]),
        ("2015-04-13", ["30.03", "0", "0"], ["29.97", "99.9", "0"]),
        ("2015-07-31", ["30.03", "0", "0"], ["29.97", "99.9", "0"]),
        ("2015-08-01", ["30.03", "0", "2"], ["29.97", "99.9", "2"]),
        ("2022-04-28", ["30.03", "0", "2"], ["29.97", "99.9", "2"]),
        ("2022-04-29", ["30.03", "0", "1"], ["29.97", "99.9", "1"]),
        ("2023-08-27", ["30.03", "0", "1"], ["29.97", "99.9", "1"]),
        ("2023-08-28", ["30.03", "0", "1"], ["29.97", "49.95", "1"]),
    ];
    for (on, bought, sold) in table {
        let fees = |[commission, duty, transfer]: [&str; 3]| {
            named(&[("commission", commission), ("stamp_duty", duty), ("transfer_fee", transfer)])
        };
        assert_eq!(parts(&cn, on, Side::Buy, "600519", "10000", "10"), fees(bought), "bought on {on}");
        assert_eq!(parts(&cn, on, Side::Sell, "600519", "10000", "10"), fees(sold), "sold on {on}");
    }
    for fund in ["510300", "159915.SZ"] {
        assert_eq!(
            parts(&cn, "2024-01-02", Side::Sell, fund, "10000", "10"),
            named(&[("commission", "29.97")])
        );
    }
    // 200 x 10.01 = 2,002: the minimum commission, and 0.02 of transfer fee.
    let small = parts(&cn, "2024-01-02", Side::Buy, "600519.SH", "200", "10");
    assert_eq!(small, named(&[("commission", "5"), ("transfer_fee", "0.02")]));
}

/// Goal: crypto pays a taker fee of 10 basis points, 5 on a perpetual; bitcoin and ether slip by 2 basis
/// points, the rest by 10.
#[test]
fn crypto_pays_a_taker() {
    let crypto = MarketProfile::crypto();
    for (symbol, at, expected) in [
        ("BTC", "50000", "50.01"), // 50,010
        ("ETHUSDT", "50000", "50.01"),
        ("SOLUSDT", "100", "0.1001"), // 100.10
        ("BTC-PERP", "50000", "25.005"),
        ("BTCDOM", "100", "0.1001"), // not bitcoin
        ("WBTC", "100", "0.1001"),
    ] {
        let bought = parts(&crypto, "2024-01-02", Side::Buy, symbol, "1", at);
        assert_eq!(bought, named(&[("taker_fee", expected)]), "{symbol}");
    }
    assert!(InstrumentClass::Perpetual.has(&Symbol::new("ETH-USDT-SWAP")));
}

/// Goal: a fill at the shown open has twice the slippage of an executable fill; nothing else does.
#[test]
fn slippage_depends_on_the_fill() {
    for profile in [MarketProfile::us_equity(), MarketProfile::cn_a_share()] {
        let of = |timing| profile.slippage_of(&Symbol::new("X"), timing);
        assert_eq!(of(FillTiming::Open), dec("10"));
        for timing in [FillTiming::NextOpen, FillTiming::Close, FillTiming::Forced] {
            assert_eq!(of(timing), dec("5"));
        }
    }
    let mut books = Books::new("ada", MarketProfile::us_equity(), money("100000"));
    let mut buy = order(&mut books, Side::Buy, "X", "100");
    buy.stop = Some(price("90"));
    let entry = trade(&mut books, day("2020-01-02"), "100", buy);
    assert_eq!(entry.fill().map(|fill| (fill.price, fill.slippage)), Some((price("100.1"), money("10"))));
    let out = bar(&mut books, day("2020-01-02"), &bars(&[("X", ["100", "101", "80", "85"])])).expect("a bar");
    let fill = out.entries[0].fill().expect("a stop");
    assert_eq!((fill.price, fill.slippage), (price("89.955"), money("4.5")));
    let mut later = MarketProfile::us_equity();
    later.fill_model = FillModel::NextOpen;
    let mut books = Books::new("ada", later, money("100000"));
    let buy = order(&mut books, Side::Buy, "X", "100");
    let approved = crate::books_support::check(&books, day("2020-01-02"), "100", buy).expect("allowed");
    papertape_core::broker::submit(&mut books, approved).expect("waits");
    let out = pre_day(&mut books, day("2020-01-03"), &prices(&[("X", "110")]), &[]);
    let fill = out.entries[0].fill().expect("a fill");
    assert_eq!((fill.price, fill.slippage), (price("110.055"), money("5.5")));
}

/// Goal: a short position pays 50 basis points per year of its market value for borrowed shares, by the
/// calendar night, and owes dividends; a long one pays neither. 100 shares at a close of 100, over one night:
/// 10,000 x 0.005 / 365 = 0.13698630.
#[test]
fn a_short_pays_for_its_shares() {
    let mut books = Books::new("ada", MarketProfile::us_equity(), money("100000"));
    let short = order(&mut books, Side::Short, "X", "100");
    let entry = trade(&mut books, day("2020-01-02"), "100", short);
    // 9,990 received; commission 1, SEC 20.70 x 0.00999 = 0.206793 up to 0.21, TAF 0.0119 up to 0.02.
    assert_eq!(entry.cash, money("109988.77"));
    let end = close(&mut books, day("2020-01-02"), &prices(&[("X", "100")])).expect("a close");
    let charged = end.entries.iter().find_map(|entry| match entry.event {
        Some(LedgerEvent::Financing { amount, nights, .. }) => Some((amount, nights)),
        _ => None,
    });
    assert_eq!(charged, Some((money("0.1369863"), Some(1))));
    let dividend = [papertape_core::ledger::CorporateAction {
        symbol: Symbol::new("X"),
        ex_date: day("2020-01-03"),
        kind: papertape_core::ledger::CorporateActionKind::Dividend { amount: price("2") },
    }];
    let out = pre_day(&mut books, day("2020-01-03"), &prices(&[("X", "98")]), &dividend);
    assert_eq!(out.entries[0].cash, money("109788.6330137"), "200 owed");
    let mut long = Books::new("ada", MarketProfile::us_equity(), money("100000"));
    let buy = order(&mut long, Side::Buy, "X", "100");
    trade(&mut long, day("2020-01-02"), "100", buy);
    let end = close(&mut long, day("2020-01-02"), &prices(&[("X", "100")])).expect("a close");
    assert!(end.entries.is_empty(), "nothing is borrowed");
}

/// Goal: tax is withheld only from dividends on long positions.
#[test]
fn dividends_are_withheld_on_long_positions() {
    for (side, expected) in [(Side::Buy, "90070"), (Side::Short, "109900")] {
        let mut profile = MarketProfile::us_equity().frictionless();
        profile.dividend_withholding_pct = dec("30");
        let mut books = Books::new("ada", profile, money("100000"));
        let opening = order(&mut books, side, "X", "100");
        trade(&mut books, day("2020-01-02"), "100", opening);
        let dividend = [papertape_core::ledger::CorporateAction {
            symbol: Symbol::new("X"),
            ex_date: day("2020-01-03"),
            kind: papertape_core::ledger::CorporateActionKind::Dividend { amount: price("1") },
        }];
        let out = pre_day(&mut books, day("2020-01-03"), &prices(&[("X", "99")]), &dividend);
        assert_eq!(out.entries[0].cash, money(expected), "{side}");
    }
}

/// Goal: a market is called frictionless exactly when nothing costs anything.
#[test]
fn frictionless_is_named() {
    for preset in ["us_equity", "cn_a_share", "crypto"] {
        let profile = MarketProfile::preset(preset).expect("a preset");
        assert!(!profile.is_frictionless(), "{preset}");
        let free = profile.frictionless();
        assert!(free.is_frictionless() && free.validate().is_ok(), "{preset}");
        assert_eq!(parts(&free, "2024-01-02", Side::Sell, "600519", "10000", "10"), []);
    }
    let mut profile = MarketProfile::us_equity().frictionless();
    profile.slippage_bps = dec("1");
    assert!(!profile.is_frictionless());
}

/// Goal: a profile from before fee schedules parses unchanged and is stored with the same bytes.
#[test]
fn an_older_profile_keeps_its_bytes() {
    let text = r#"{"name":"us_equity","lot":"1","fractional":false,"t_plus_one":false,"shorting":true,"min_leverage":"1","max_leverage":"1","lends":false,"fees":{"bps":"0","minimum":"0"},"slippage_bps":"0","financing_bps_a_year":"0","fill_model":"open"}"#;
    let profile: MarketProfile = serde_json::from_str(text).expect("a profile");
    assert_eq!(serde_json::to_string(&profile).expect("JSON"), text);
    assert!(profile.is_frictionless());
    assert_eq!(profile.short_borrow_bps(), dec("0"));
}

/// Goal: every number of every preset has a source in its file; sources are not stored with a job.
#[test]
fn every_figure_has_a_source() {
    for file in MarketProfile::PRESET_FILES {
        let profile: MarketProfile = toml::from_str(file).expect("a profile");
        assert_eq!(profile.validate(), Ok(()));
        let bands = profile.fee_schedule.iter().flat_map(|schedule| &schedule.bands);
        assert!(bands.clone().count() > 0);
        assert!(bands.clone().all(|band| band.source.is_some()), "{}", profile.name);
        assert!(profile.slippage.iter().all(|rule| rule.source.is_some()), "{}", profile.name);
        let stored = MarketProfile::preset(&profile.name).expect("a preset");
        assert_eq!(stored, profile.without_sources());
    }
}

/// Goal: bands out of order, negative rates and a fee above the value are errors that name the field.
#[test]
fn nonsense_in_a_schedule_is_named() {
    let problem = |change: fn(&mut FeeSchedule)| {
        let mut profile = MarketProfile::cn_a_share();
        change(&mut profile.fee_schedule[0]);
        profile.validate().expect_err("nonsense")
    };
    type Change = fn(&mut FeeSchedule);
    let cases: [(Change, &str); 5] = [
        (|fee| fee.bands.clear(), "fee_schedule.commission: it has no bands"),
        (|fee| fee.bands.reverse(), "in the order of effective_from"),
        (|fee| fee.bands[0].rate = dec("-1"), "must not be below zero"),
        (|fee| fee.bands[0].rate = dec("10000"), "less than the value"),
        (|fee| fee.rounding.as_mut().expect("rounded").decimals = 9, "at most 8"),
    ];
    for (change, expected) in cases {
        let found = problem(change);
        assert!(found.contains(expected), "{found}");
    }
    let mut profile = MarketProfile::us_equity();
    profile.slippage[0].bps = dec("10000");
    assert!(profile.validate().is_err());
    let mut profile = MarketProfile::us_equity();
    profile.dividend_withholding_pct = dec("101");
    assert!(profile.validate().is_err());
}

//! Sizing: from decisions to orders, within the cash, the caps and the market's rules.

use papertape_agents::config::SizingConfig;
use papertape_agents::desk::answer::{Action, Rating, TraderProposal};
use papertape_agents::desk::sizing::{AdjustmentCode, Amount, Decision, PlannedOrder, Size, Sizing, size};
use papertape_core::broker::{Books, Fees, FillModel, MarketProfile, Order, Quote, Side, approve, submit};
use papertape_core::id::Symbol;
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::time::{Date, parse_date};
use proptest::prelude::*;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

type Decisions = BTreeMap<Symbol, Decision>;
type Quotes = BTreeMap<Symbol, Quote>;

fn d(text: &str) -> Decimal {
    text.parse().expect("a number")
}

fn day(n: u32) -> Date {
    parse_date(&format!("2024-01-{n:02}")).expect("a date")
}

fn quotes(prices: &[(&str, &str)], n: u32) -> Quotes {
    prices.iter().map(|(s, p)| (Symbol::new(s), Quote::at(Symbol::new(s), day(n), Price(d(p))))).collect()
}

fn rated(rating: Rating) -> Decision {
    Decision::Rated { rating, proposal: None }
}

fn proposed(rating: Rating, action: Action, sizing: &str) -> Decision {
    Decision::Rated { rating, proposal: Some(proposal(action, sizing)) }
}

fn proposal(action: Action, sizing: &str) -> TraderProposal {
    TraderProposal {
        action,
        reasoning: String::new(),
        entry_price: None,
        stop_loss: None,
        take_profit: None,
        leverage: None,
        position_sizing: Some(sizing.to_owned()),
    }
}

fn decisions(list: Vec<(&str, Decision)>) -> Decisions {
    list.into_iter().map(|(symbol, decision)| (Symbol::new(symbol), decision)).collect()
}

fn place(books: &mut Books, quote: &Quote, side: Side, quantity: Decimal) {
    let order = Order {
        id: books.next_order_id(),
        symbol: quote.symbol.clone(),
        side,
        quantity: Quantity(quantity),
        stop: None,
        target: None,
        leverage: None,
        reason: None,
    };
    let approved = approve(books.account(), books.profile(), quote, order).expect("it is allowed");
    submit(books, approved).expect("it fills");
}

/// Books with 10,000 and these holdings, bought on the second without costs.
fn books(profile: MarketProfile, held: &[(&str, &str, &str)]) -> Books {
    let mut books = Books::new("desk", profile, Money(d("10000")));
    for (symbol, quantity, price) in held {
        let quantity = d(quantity);
        let side = if quantity > Decimal::ZERO { Side::Buy } else { Side::Short };
        place(&mut books, &quotes(&[(symbol, price)], 2)[*symbol], side, quantity.abs());
    }
    books
}

fn told(sizing: &Sizing) -> Vec<(String, Side, String)> {
    let order = |o: &PlannedOrder| (o.symbol.to_string(), o.side, o.quantity.to_string());
    sizing.orders.iter().map(order).collect()
}

fn one(symbol: &str, side: Side, quantity: &str) -> (String, Side, String) {
    (symbol.to_owned(), side, quantity.to_owned())
}

fn is_adjusted(sizing: &Sizing, symbol: &str, code: AdjustmentCode) -> bool {
    sizing.adjustments.iter().any(|one| one.symbol.as_str() == symbol && one.code == code)
}

/// 25% of 10,000 per symbol; 2% stay in cash.
fn run(books: &Books, prices: &[(&str, &str)], list: Vec<(&str, Decision)>) -> Sizing {
    size(books, &quotes(prices, 3), &decisions(list), &SizingConfig::default())
}

// Goal: each rating gives its weight of the cap, computed by hand.
#[test]
fn ratings_have_weights() {
    let empty = books(MarketProfile::us_equity().frictionless(), &[]);
    let sizing = run(
        &empty,
        &[("A", "100"), ("B", "30")],
        vec![("A", rated(Rating::Buy)), ("B", rated(Rating::Overweight))],
    );
    // 2,500 / 100 and 1,500 / 30.
    assert_eq!(told(&sizing), [one("A", Side::Buy, "25"), one("B", Side::Buy, "50")]);
    assert_eq!(sizing.adjustments, []);

    let held = books(
        MarketProfile::us_equity().frictionless(),
        &[("A", "20", "100"), ("B", "20", "100"), ("C", "20", "100")],
    );
    let prices = [("A", "100"), ("B", "100"), ("C", "100")];
    let list =
        vec![("A", rated(Rating::Underweight)), ("B", rated(Rating::Sell)), ("C", rated(Rating::Overweight))];
    // Underweight: 750 / 100 remain. An Overweight never sells what is held.
    let sizing = run(&held, &prices, list);
    assert_eq!(told(&sizing), [one("A", Side::Sell, "12"), one("B", Side::Sell, "20")]);
    assert!(is_adjusted(&sizing, "A", AdjustmentCode::Lot));

    // An Underweight increases nothing; a Sell without a holding is reported.
    let sizing = run(&empty, &prices, vec![("A", rated(Rating::Underweight)), ("B", rated(Rating::Sell))]);
    assert_eq!(told(&sizing), []);
    assert!(is_adjusted(&sizing, "B", AdjustmentCode::Held));
}

// Goal: Hold, an unparseable answer, a symbol without a price and one with a pending order give no order.
#[test]
fn no_opinion_no_order() {
    let mut profile = MarketProfile::us_equity().frictionless();
    profile.fill_model = FillModel::NextOpen;
    let mut books =
        books(MarketProfile::us_equity().frictionless(), &[("A", "20", "100"), ("B", "20", "100")]);
    let none = Decision::None { why: "the answer states no rating".to_owned() };
    let prices = [("A", "100"), ("B", "100"), ("D", "100")];
    let list = vec![
        ("A", rated(Rating::Hold)),
        ("B", none),
        ("C", rated(Rating::Buy)),
        ("D", proposed(Rating::Hold, Action::Buy, "50% of portfolio")),
    ];
    let sizing = run(&books, &prices, list);
    assert_eq!(told(&sizing), []);
    assert!(
        is_adjusted(&sizing, "B", AdjustmentCode::NoDecision)
            && is_adjusted(&sizing, "C", AdjustmentCode::NoPrice)
    );

    books = Books::new("desk", profile, Money(d("10000")));
    place(&mut books, &quotes(&[("A", "100")], 3)["A"], Side::Buy, d("90"));
    let sizing = run(&books, &prices, vec![("A", rated(Rating::Buy)), ("D", rated(Rating::Buy))]);
    // 9,000 are reserved by pending orders, 200 are the reserve.
    assert_eq!(told(&sizing), [one("D", Side::Buy, "8")]);
    assert!(is_adjusted(&sizing, "A", AdjustmentCode::WaitingOrder));
    assert!(
        is_adjusted(&sizing, "D", AdjustmentCode::GrossCap)
            || is_adjusted(&sizing, "D", AdjustmentCode::Cash)
    );
}

// Goal: sells come first and pay for buys; insufficient cash is shared pro rata, with fees and slippage, and
// recorded.
#[test]
fn cash_is_shared() {
    let mut profile = MarketProfile::us_equity().frictionless();
    profile.fees = Fees { bps: d("100"), minimum: Money(d("5")) };
    profile.slippage_bps = d("100");
    let mut config = SizingConfig {
        symbol_cap: d("0.9"),
        gross_cap: d("2"),
        cash_reserve: d("0"),
        ..SizingConfig::default()
    };
    let empty = books(profile.clone(), &[]);
    let list = decisions(vec![("A", rated(Rating::Buy)), ("B", rated(Rating::Buy))]);
    let sizing = size(&empty, &quotes(&[("A", "100"), ("B", "10")], 3), &list, &config);
    // Each wants 9,000 and gets 5,000 / (1.01 x 1.01) = 4,901.48.
    assert_eq!(told(&sizing), [one("A", Side::Buy, "49"), one("B", Side::Buy, "490")]);
    assert!(
        is_adjusted(&sizing, "A", AdjustmentCode::Cash) && is_adjusted(&sizing, "B", AdjustmentCode::Cash)
    );
    let numbers =
        &sizing.adjustments.iter().find(|one| one.code == AdjustmentCode::Cash).expect("a cut").numbers;
    assert_eq!(numbers["cash"], d("10000"));

    config.weights.overweight = d("1");
    let full = books(MarketProfile::us_equity().frictionless(), &[("B", "100", "100")]);
    let list = decisions(vec![("A", rated(Rating::Buy)), ("B", rated(Rating::Sell))]);
    let sizing = size(&full, &quotes(&[("A", "100"), ("B", "100")], 3), &list, &config);
    assert_eq!(told(&sizing), [one("B", Side::Sell, "100"), one("A", Side::Buy, "90")]);
}

// Goal: the Trader's size replaces the table's weight when it has the rating's direction, within the cap.
#[test]
fn the_traders_size_counts() {
    let empty = books(MarketProfile::us_equity().frictionless(), &[]);
    let buy =
        |sizing: &str| run(&empty, &[("A", "100")], vec![("A", proposed(Rating::Buy, Action::Buy, sizing))]);
    for (sizing, shares) in [
        ("5% of portfolio", "5"),
        ("10 shares", "10"),
        ("仓位的20%", "20"),
        ("half position", "12"),
        ("0.05", "5"),
        ("$700", "7"),
        ("10股", "10"),
    ] {
        assert_eq!(told(&buy(sizing)), [one("A", Side::Buy, shares)], "{sizing}");
    }
    let much = buy("80% of portfolio");
    assert_eq!(told(&much), [one("A", Side::Buy, "25")]);
    assert!(is_adjusted(&much, "A", AdjustmentCode::SymbolCap));
    // Neither gives an order with the table's weight.
    for unclear in
        ["some", "carefully", "not a full position", "keep 80% in cash", "5% or 10%", "{percent: 5}", "-5%"]
    {
        let unclear = buy(unclear);
        assert!(told(&unclear).is_empty(), "{unclear:?}");
        assert!(is_adjusted(&unclear, "A", AdjustmentCode::SizingUnreadable));
    }
    for nothing in ["0%", "0", "0 shares", "$0", "0 % of portfolio", "0% 仓位"] {
        let nothing = buy(nothing);
        assert!(told(&nothing).is_empty(), "{nothing:?}");
        assert!(is_adjusted(&nothing, "A", AdjustmentCode::SizingZero));
    }
    assert_eq!(told(&buy("5-10%")), [one("A", Side::Buy, "5")]);
    let other = run(&empty, &[("A", "100")], vec![("A", proposed(Rating::Buy, Action::Sell, "1 share"))]);
    assert_eq!(told(&other), [one("A", Side::Buy, "25")]);
    assert!(is_adjusted(&other, "A", AdjustmentCode::SizingIgnored));

    let held = books(MarketProfile::us_equity().frictionless(), &[("A", "20", "100")]);
    let sell =
        |sizing: &str| run(&held, &[("A", "100")], vec![("A", proposed(Rating::Sell, Action::Sell, sizing))]);
    for (sizing, shares) in [
        ("half position", "10"),
        ("5 shares", "5"),
        ("reduce to 5% of portfolio", "15"),
        ("50% of the position", "10"),
        ("all", "20"),
        ("减仓一半", "10"),
        ("reduce to 0%", "20"),
        ("5 to 10 shares", "5"),
        ("50%-100% of the position", "10"),
    ] {
        assert_eq!(told(&sell(sizing)), [one("A", Side::Sell, shares)], "{sizing}");
    }
    let more = sell("30 shares");
    assert_eq!(told(&more), [one("A", Side::Sell, "20")]);
    assert!(is_adjusted(&more, "A", AdjustmentCode::Held));
}

// Goal: sizes in words are parsed, and other texts rejected.
#[test]
fn sizes_are_read() {
    let cases = [
        ("5%", Amount::Portfolio(d("0.05"))),
        ("5% of portfolio (about 10 shares)", Amount::Portfolio(d("0.05"))),
        ("up to 10% of the account", Amount::Portfolio(d("0.1"))),
        ("20%仓位", Amount::Portfolio(d("0.2"))),
        ("半仓", Amount::Portfolio(d("0.5"))),
        ("三成仓位", Amount::Portfolio(d("0.3"))),
        ("1/2 position", Amount::Position(d("0.5"))),
        ("a quarter position", Amount::Position(d("0.25"))),
        ("half of the portfolio", Amount::Portfolio(d("0.5"))),
        ("1,200 shares", Amount::Quantity(d("1200"))),
        ("2手", Amount::Quantity(d("200"))),
        ("0.25 BTC", Amount::Quantity(d("0.25"))),
        ("1万元", Amount::Money(d("10000"))),
        ("0%", Amount::Portfolio(d("0"))),
        // A range gives its lower end.
        ("5-10% of portfolio", Amount::Portfolio(d("0.05"))),
        ("5% - 10%", Amount::Portfolio(d("0.05"))),
        ("5 – 10 %", Amount::Portfolio(d("0.05"))),
        ("5% to 8% of portfolio", Amount::Portfolio(d("0.05"))),
        ("between 5 and 10 shares", Amount::Quantity(d("5"))),
        ("10~20股", Amount::Quantity(d("10"))),
        ("总仓位的5%至10%", Amount::Portfolio(d("0.05"))),
        ("$1,000-$2,000", Amount::Money(d("1000"))),
        ("$1k-2k", Amount::Money(d("1000"))),
        ("1-2万元", Amount::Money(d("10000"))),
        ("10-5%", Amount::Portfolio(d("0.05"))),
        ("half to full position", Amount::Position(d("0.5"))),
    ];
    for (text, amount) in cases {
        assert_eq!(Size::parse(text).map(|size| size.amount), Ok(amount), "{text}");
    }
    for text in [
        "",
        "some",
        "moderate",
        "10",
        "-5%",
        "200% of the position",
        "NaN",
        "5% or 10%",
        "increase from 5% to 10%",
        "900-1k shares",
        "full position now, half later",
        "not a full position",
        "carefully",
        "in the next quarter",
        "keep 20% cash",
        "不要满仓",
        "一到两成",
        "risk-based, stop 5% below",
    ] {
        assert!(Size::parse(text).is_err(), "{text}: {:?}", Size::parse(text));
    }
}

// Goal: T+1, lots, odd holdings, shorts, stops and leverage, each adjustment with its reason.
#[test]
fn the_market_rules() {
    let quotes3 = quotes(&[("A", "10")], 3);
    let mut cn = Books::new("desk", MarketProfile::cn_a_share().frictionless(), Money(d("10000")));
    place(&mut cn, &quotes(&[("A", "10")], 2)["A"], Side::Buy, d("300"));
    place(&mut cn, &quotes3["A"], Side::Buy, d("100"));
    let sizing = size(&cn, &quotes3, &decisions(vec![("A", rated(Rating::Sell))]), &SizingConfig::default());
    assert_eq!(told(&sizing), [one("A", Side::Sell, "300")]);
    assert!(is_adjusted(&sizing, "A", AdjustmentCode::TPlusOne));

    let mut short = SizingConfig { shorting: true, ..SizingConfig::default() };
    short.weights.sell = d("-0.5");
    let list = decisions(vec![("A", rated(Rating::Sell))]);
    let us = books(MarketProfile::us_equity().frictionless(), &[("A", "20", "10")]);
    assert_eq!(
        told(&size(&us, &quotes3, &list, &short)),
        [one("A", Side::Sell, "20"), one("A", Side::Short, "125")]
    );
    let sizing = size(&cn, &quotes(&[("A", "10")], 4), &list, &short);
    assert_eq!(told(&sizing), [one("A", Side::Sell, "400")]);
    assert!(is_adjusted(&sizing, "A", AdjustmentCode::Shorting));
    // A Buy on a short position covers it, then buys.
    let us = books(MarketProfile::us_equity().frictionless(), &[("A", "-50", "10")]);
    let sizing = size(&us, &quotes3, &decisions(vec![("A", rated(Rating::Buy))]), &SizingConfig::default());
    assert_eq!(told(&sizing), [one("A", Side::Cover, "50"), one("A", Side::Buy, "250")]);

    let crypto = books(MarketProfile::crypto().frictionless(), &[]);
    let config = SizingConfig { max_leverage: d("3"), ..SizingConfig::default() };
    let with = |stop: Option<&str>, target: Option<&str>, leverage: &str| {
        let mut proposal = proposal(Action::Buy, "10% of portfolio");
        proposal.stop_loss = stop.map(|stop| Price(d(stop)));
        proposal.take_profit = target.map(|target| Price(d(target)));
        proposal.leverage = Some(d(leverage));
        let list = decisions(vec![("A", Decision::Rated { rating: Rating::Buy, proposal: Some(proposal) })]);
        size(&crypto, &quotes3, &list, &config)
    };
    let sizing = with(Some("9.8"), Some("12"), "3");
    let order = &sizing.orders[0];
    assert_eq!(
        (order.stop, order.target, order.leverage),
        (Some(Price(d("9.8"))), Some(Price(d("12"))), Some(d("3")))
    );
    assert_eq!(order.quantity, Quantity(d("100")));
    let sizing = with(Some("5"), Some("9"), "10");
    let order = &sizing.orders[0];
    assert!(order.stop.is_some_and(|stop| stop.0 > d("9.6")) && order.target.is_none(), "{order:?}");
    assert_eq!(order.leverage, Some(d("3")));
    assert!(
        [AdjustmentCode::Stop, AdjustmentCode::Target, AdjustmentCode::Leverage]
            .iter()
            .all(|code| is_adjusted(&sizing, "A", *code))
    );
    let sizing = with(None, None, "3");
    assert_eq!((sizing.orders.len(), sizing.orders[0].leverage), (1, None));
    assert!(is_adjusted(&sizing, "A", AdjustmentCode::Leverage));
}

// Goal: an invalid table is rejected with the field named.
#[test]
fn a_wrong_table_is_refused() {
    assert_eq!(SizingConfig::default().validate(), Ok(()));
    let check = |change: fn(&mut SizingConfig)| {
        let mut config = SizingConfig::default();
        change(&mut config);
        config.validate().expect_err("it is wrong")
    };
    assert!(check(|c| c.symbol_cap = Decimal::ZERO).starts_with("symbol_cap"));
    assert!(check(|c| c.weights.overweight = Decimal::TWO).starts_with("weights.overweight"));
    assert!(check(|c| c.weights.sell = Decimal::NEGATIVE_ONE).contains("shorting"));
    assert!(check(|c| c.cash_reserve = Decimal::ONE).starts_with("cash_reserve"));
}

fn profile() -> impl Strategy<Value = MarketProfile> {
    (0..6_usize, 0_i64..200, 0_i64..20, 0_i64..100, prop::bool::ANY).prop_map(
        |(which, bps, minimum, slippage, later)| {
            // The presets with or without their own costs.
            let mut profile =
                [MarketProfile::us_equity(), MarketProfile::cn_a_share(), MarketProfile::crypto()][which % 3]
                    .clone();
            if which >= 3 {
                profile = profile.frictionless();
            }
            profile.fees = Fees { bps: Decimal::from(bps), minimum: Money(Decimal::from(minimum)) };
            profile.slippage_bps = Decimal::from(slippage);
            profile.fill_model = if later { FillModel::NextOpen } else { FillModel::Open };
            profile
        },
    )
}

fn decision() -> impl Strategy<Value = Decision> {
    let sizing = prop::sample::select(vec![
        "5% of portfolio",
        "10 shares",
        "仓位的20%",
        "half position",
        "0.05",
        "100% of portfolio",
        "$900",
        "what?",
        "1000000000 shares",
    ]);
    let price = prop::option::of((1_i64..50_000).prop_map(|n| Price(Decimal::new(n, 2))));
    let proposal = (0..3_usize, sizing, price.clone(), price, 0..12_i64).prop_map(
        |(n, sizing, stop, target, leverage)| {
            let mut proposal = proposal(Action::ALL[n], sizing);
            proposal.stop_loss = stop;
            proposal.take_profit = target;
            proposal.leverage = (leverage > 0).then(|| Decimal::from(leverage));
            proposal
        },
    );
    prop_oneof![
        1 => Just(Decision::None { why: "no answer".to_owned() }),
        8 => (0..5_usize, prop::option::of(proposal)).prop_map(|(n, proposal)| Decision::Rated { rating: Rating::ALL[n], proposal }),
    ]
}

/// Books, quotes and decisions of up to six symbols, with a table.
fn world() -> impl Strategy<Value = (Books, Quotes, Decisions, SizingConfig)> {
    let symbol = (1_i64..50_000, 0_i64..40, prop::bool::weighted(0.9), decision());
    let config = (1_i64..12, 1_i64..20, 0_i64..20, 0_i64..5, prop::bool::ANY, 1_i64..6, prop::bool::ANY)
        .prop_map(|(cap, gross, reserve, least, shorting, leverage, short)| {
            let mut config = SizingConfig {
                symbol_cap: Decimal::new(cap, 1),
                gross_cap: Decimal::new(gross, 1),
                cash_reserve: Decimal::new(reserve, 2),
                min_order: Decimal::new(least, 3),
                shorting,
                max_leverage: Decimal::from(leverage),
                ..SizingConfig::default()
            };
            if shorting && short {
                config.weights.sell = Decimal::new(-5, 1);
            }
            config
        });
    (profile(), prop::collection::vec(symbol, 1..6), config).prop_map(|(profile, symbols, config)| {
        let mut open = profile.clone();
        open.fill_model = FillModel::Open;
        let mut books = Books::new("desk", open, Money(d("10000")));
        let (mut quotes, mut decisions) = (Quotes::new(), Decisions::new());
        for (n, (cents, lots, priced, decision)) in symbols.into_iter().enumerate() {
            let symbol = Symbol::new(format!("S{n}"));
            let price = Price(Decimal::new(cents, 2));
            let quote = Quote::at(symbol.clone(), day(2 + u32::from(n % 2 == 0)), price);
            let quantity = Decimal::from(lots) * profile.lot.0;
            let needed = papertape_core::broker::initial_margin_requirement(
                &profile,
                (&symbol, quote.day),
                Side::Buy,
                Quantity(quantity),
                price,
                Decimal::ONE,
            )
            .and_then(papertape_core::broker::OpeningNeeds::total);
            if lots > 0 && needed.is_ok_and(|needed| needed <= books.account().available().expect("a number"))
            {
                place(&mut books, &Quote { day: day(2), ..quote.clone() }, Side::Buy, quantity);
            }
            if priced {
                quotes.insert(symbol.clone(), Quote { day: day(3), ..quote });
            }
            decisions.insert(symbol, decision);
        }
        let mut whole = serde_json::to_value(&books).expect("books are JSON");
        whole["profile"] = serde_json::to_value(&profile).expect("a profile is JSON");
        (serde_json::from_value(whole).expect("books"), quotes, decisions, config)
    })
}

proptest! {
    // Goal: whatever is decided, the broker accepts every order in sequence; never more than the cash, never
    // over a cap, whole lots, closing before opening, no order without an opinion.
    #[test]
    fn orders_hold((books, quotes, decisions, config) in world()) {
        prop_assert_eq!(config.validate(), Ok(()));
        let sizing = size(&books, &quotes, &decisions, &config);
        let profile = books.profile();
        let mut marks = books.marks().clone();
        for (symbol, quote) in &quotes {
            if let papertape_core::broker::QuoteState::At(price) = quote.state { marks.insert(symbol.clone(), price); }
        }
        let equity = books.account().equity(&marks).expect("marks").0;
        let mut trial = books.clone();
        let mut opened = false;
        let mut needed = Decimal::ZERO;
        for planned in &sizing.orders {
            prop_assert!(!opened || planned.side.opens(), "closing after opening");
            opened |= planned.side.opens();
            let Decision::Rated { rating, .. } = &decisions[&planned.symbol] else { panic!("no opinion, no order") };
            let up = matches!(planned.side, Side::Buy | Side::Cover);
            prop_assert_eq!(rating.direction(), if up { 1 } else { -1 });
            let lots = planned.quantity.0 / profile.lot.0;
            let held = books.account().position(&planned.symbol).map_or(Decimal::ZERO, |p| p.quantity.0.abs());
            prop_assert!(profile.fractional || lots.fract().is_zero() || planned.quantity.0 == held);
            prop_assert!(config.shorting || planned.side != Side::Short);
            if planned.side.opens() {
                let leverage = planned.leverage.or_else(|| trial.account().position(&planned.symbol).map(|p| p.leverage)).unwrap_or(Decimal::ONE);
                prop_assert!(leverage <= config.max_leverage.max(Decimal::ONE));
                needed += papertape_core::broker::initial_margin_requirement(profile, (&planned.symbol, day(3)), planned.side, planned.quantity, marks[&planned.symbol], leverage).expect("a number").total().expect("a number").0;
            }
            let order = planned.order(trial.next_order_id());
            let approved = approve(trial.account(), profile, &quotes[&planned.symbol], order);
            prop_assert!(approved.is_ok(), "{:?}", approved);
            submit(&mut trial, approved.expect("checked")).expect("it enters");
            if planned.side.opens() && profile.fill_model == FillModel::Open {
                let position = &trial.account().position(&planned.symbol).expect("a position");
                let value = position.quantity.0.abs() * marks[&planned.symbol].0;
                prop_assert!(value <= equity * config.symbol_cap + d("0.0001"), "{} over the cap", value);
            }
        }
        if opened && profile.fill_model == FillModel::Open {
            prop_assert!(trial.account().available().expect("a number").0 >= equity * config.cash_reserve - d("0.0001"));
            let gross: Decimal = trial.account().positions().iter().map(|(s, p)| p.quantity.0.abs() * marks[s].0).sum();
            prop_assert!(gross <= equity * config.gross_cap + d("0.0001"));
        }
        if profile.fill_model != FillModel::Open {
            prop_assert!(needed <= books.account().available().expect("a number").0);
        }
        let again = size(&books, &quotes, &decisions, &config);
        prop_assert_eq!(sizing, again);
    }

    // Goal: names do not matter: other names for the same symbols, in the opposite order, give the same
    // orders.
    #[test]
    fn the_order_of_symbols_does_not_matter(prices in prop::collection::vec((1_i64..50_000, decision()), 2..6), fee in 0_i64..30) {
        let mut profile = MarketProfile::us_equity().frictionless();
        profile.fees.minimum = Money(Decimal::from(fee));
        let books = books(profile, &[]);
        let config = SizingConfig { symbol_cap: d("0.6"), gross_cap: d("2"), ..SizingConfig::default() };
        let run = |name: &dyn Fn(usize) -> String| {
            let (mut quotes, mut decisions) = (Quotes::new(), Decisions::new());
            for (n, (cents, decision)) in prices.iter().enumerate() {
                let symbol = Symbol::new(name(n));
                quotes.insert(symbol.clone(), Quote::at(symbol.clone(), day(3), Price(Decimal::new(*cents, 2))));
                decisions.insert(symbol, decision.clone());
            }
            let sizing = size(&books, &quotes, &decisions, &config);
            let number = |symbol: &Symbol| (0..prices.len()).find(|n| name(*n) == symbol.as_str());
            let mut orders: Vec<_> = sizing.orders.iter().map(|o| (number(&o.symbol), o.side, o.quantity)).collect();
            orders.sort();
            orders
        };
        prop_assert_eq!(run(&|n| format!("A{n}")), run(&|n| format!("Z{}", 9 - n)));
    }
}

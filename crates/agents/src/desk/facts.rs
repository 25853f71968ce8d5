//! The facts on the account and the market in a desk's prompts, each as JSON on one line.

use crate::config::DeskConfig;
use crate::day_input::DayInput;
use crate::memory;
use crate::rules;
use crate::tools::{market, number, portfolio};
use crate::universe;
use papertape_core::broker::{Books, MarketProfile};
use papertape_core::id::Symbol;
use papertape_core::json::canonical;
use papertape_core::market::{Indicator, MarketView, PriceKind};
use papertape_core::record::DerivedRow;
use serde_json::{Map, Value, json};

/// The facts on the account at the open, the same for every symbol.
pub(crate) struct AccountFacts {
    /// The template values `account`, `is_empty`, `unpriced`, `orders`, `limits`, `rules`, `notices`.
    values: Map<String, Value>,
    shown: Vec<DerivedRow>,
}

impl AccountFacts {
    /// Gathers them.
    pub(crate) fn of(
        input: &DayInput<'_>,
        config: &DeskConfig,
        view: &MarketView<'_>,
        books: &Books,
        notices: &[String],
    ) -> Self {
        let owned = portfolio::read(books, view, input.day.date);
        let mut shown = owned.implied();
        shown.extend(view.universe_exposure().cloned().map(DerivedRow::Exposure));
        let mut account = owned.value;
        let orders = account.as_object_mut().and_then(|account| account.remove("pending_orders"));
        let positions = account["positions"].as_array().cloned().unwrap_or_default();
        let has_no_price = |held: &&str| {
            let read = view.price(&Symbol::new(held));
            !read.is_ok_and(|read| read.value.kind == PriceKind::TodayOpen)
        };
        let held = positions.iter().filter_map(|position| position["symbol"].as_str());
        let unpriced: Vec<&str> = held.filter(has_no_price).collect();
        let mut values = Map::new();
        values.insert("account".to_owned(), json!(canonical(&account)));
        values.insert("is_empty".to_owned(), json!(positions.is_empty()));
        values.insert("unpriced".to_owned(), json!(unpriced.join(", ")));
        values.insert("orders".to_owned(), json!(canonical(&orders.unwrap_or_else(|| json!([])))));
        values.insert("limits".to_owned(), json!(canonical(&limits(books.profile(), config))));
        let sizing = &config.sizing;
        let allowed = rules::Allowed { shorting: sizing.shorting, max_leverage: sizing.max_leverage };
        let language = input.agent.language;
        let mut rules_text = rules::rules(books.profile(), allowed, language, input.day.date);
        rules_text.push_str(&universe::rule(input.universe, language));
        let closing_only = universe::closing_only(view, input.symbols, input.universe, language);
        values.insert("rules".to_owned(), json!((rules_text + "\n" + &closing_only).trim_end()));
        values.insert("notices".to_owned(), json!(memory::book_lines(notices)));
        Self { values, shown }
    }
}

/// The facts for one symbol at the open.
pub(crate) struct DeskFacts<'a> {
    /// The template values `symbol`, `date`, `prices`, `has_prices`.
    with_prices: Map<String, Value>,
    shown_prices: Vec<DerivedRow>,
    account: &'a AccountFacts,
}

impl<'a> DeskFacts<'a> {
    /// Gathers them.
    pub(crate) fn of(
        symbol: &Symbol,
        input: &DayInput<'_>,
        view: &MarketView<'_>,
        account: &'a AccountFacts,
    ) -> Self {
        let (prices, shown_prices) = prices(view, symbol);
        let mut with_prices = Map::new();
        with_prices.insert("symbol".to_owned(), json!(symbol));
        with_prices.insert("date".to_owned(), json!(input.day.date));
        with_prices.insert("has_prices".to_owned(), json!(!prices["price"].is_null()));
        with_prices.insert("prices".to_owned(), json!(canonical(&prices)));
        Self { with_prices, shown_prices, account }
    }

    /// The symbol and its prices.
    pub(crate) fn prices(&self) -> (Map<String, Value>, Vec<DerivedRow>) {
        (self.with_prices.clone(), self.shown_prices.clone())
    }

    /// The symbol, its prices and the account.
    pub(crate) fn account(&self) -> (Map<String, Value>, Vec<DerivedRow>) {
        let own = |values: &Map<String, Value>| values.clone().into_iter();
        let values = own(&self.with_prices).chain(own(&self.account.values)).collect();
        (values, self.shown_prices.iter().chain(&self.account.shown).cloned().collect())
    }
}

/// A symbol's latest price, the previous close and the average true range.
fn prices(view: &MarketView<'_>, symbol: &Symbol) -> (Value, Vec<DerivedRow>) {
    let mut shown = Vec::new();
    let mut value = json!({ "symbol": symbol, "price": null });
    // Only today's price can be traded at; an old one would look like one.
    if let Ok(read) = view.price(symbol)
        && read.value.kind == PriceKind::TodayOpen
    {
        value["price"] = number(read.value.price.0);
        value["kind"] = json!("open");
        value["date"] = json!(read.value.date);
        shown.push(DerivedRow::Exposure(read.exposure));
    }
    if let Ok(read) = view.last_close(symbol) {
        value["previous_close"] = number(market::rounded_price(read.value.price));
        value["previous_date"] = json!(read.value.date);
        shown.push(DerivedRow::Exposure(read.exposure));
    }
    let atr = "atr(14)".parse::<Indicator>().ok();
    if let Some(Ok(read)) = atr.map(|atr| view.indicators(symbol, &[atr], 1)) {
        value["atr_14"] = market::newest(view, symbol, &read.value).remove("atr_14").unwrap_or_default();
        shown.push(DerivedRow::Exposure(read.exposure));
    }
    (value, shown)
}

/// The limits on orders: the market's rules, and the desk's own table.
fn limits(profile: &MarketProfile, config: &DeskConfig) -> Value {
    let own = &config.sizing;
    json!({
        "symbol_cap": number(own.symbol_cap),
        "gross_cap": number(own.gross_cap),
        "cash_reserve": number(own.cash_reserve),
        "max_leverage": number(own.max_leverage.min(profile.leverage_limit())),
        "shorting": own.shorting && profile.shorting,
        "fractional": profile.fractional,
        "lot": number(profile.lot.0),
        "t_plus_one": profile.t_plus_one,
    })
}

//! Amounts of money and numbers of shares in texts, scaled like the data.

use super::entities::{Entities, Entity};
use super::span::Span;
use papertape_core::id::Symbol;
use regex::Regex;
use rust_decimal::{Decimal, RoundingStrategy};
use std::sync::LazyLock;

/// A number, with what makes it larger.
const NUMBER: &str = r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)";
const MAGNITUDE: &str = r"(\s?(?:(?i:trillion|billion|million|thousand|bn|mn|tn)\b|[BMKTbmk]\b|万亿|亿|万))?";

static MARKED: LazyLock<Regex> = LazyLock::new(|| {
    let marks = r"(?:US\$|HK\$|NT\$|C\$|A\$|\$|€|£|¥|￥|(?:USD|EUR|GBP|CNY|RMB|HKD|JPY)\s?)\s?";
    let range = format!(r"(?:\s?(?:[-–]|to)\s?(?:\$|€|£|¥|￥)?{NUMBER}{MAGNITUDE})?");
    pattern(&format!("{marks}{NUMBER}{MAGNITUDE}{range}"))
});
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(r"{NUMBER}{MAGNITUDE}\s?(?:(?i:dollars|yuan|euros)\b|美元|港元|港币|人民币|元)"))
});
static SHARES: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"{NUMBER}{MAGNITUDE}\s?(?:(?i:shares)\b|股)")));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a test compiles every pattern")
}

/// What a figure counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Money,
    Shares,
}

/// The figures of a text about some symbols. A figure belongs to what the text has last named before it; else to what
/// it names first, else to its only symbol. A figure that belongs to nothing stays.
pub(super) fn find(text: &str, entities: &Entities, symbols: &[Symbol]) -> Vec<Span> {
    let mentions = entities.mentions(text);
    let of_text = || match symbols {
        [first, ..] => entities.of_symbol(first),
        [] => None,
    };
    let owner = |at: usize| {
        let before = mentions.iter().filter(|(start, _)| *start <= at).max_by_key(|(start, _)| *start);
        before.or(mentions.first()).map(|(_, entity)| *entity).or_else(of_text)
    };
    let mut spans = Vec::new();
    for (pattern, unit) in [(&MARKED, Unit::Money), (&NAMED, Unit::Money), (&SHARES, Unit::Shares)] {
        for found in pattern.captures_iter(text) {
            let groups = [(1, 2), (3, 4)];
            for (number, magnitude) in groups.into_iter().take(found.len() / 2) {
                let Some(figure) = found.get(number) else { continue };
                let Some(entity) = owner(figure.start()) else { continue };
                let is_total = found
                    .get(magnitude)
                    .is_some_and(|it| !matches!(it.as_str().trim(), "" | "万" | "K" | "k"));
                if let Some(replacement) = scaled(figure.as_str(), factor(entity, unit, is_total)) {
                    spans.push(Span { start: figure.start(), end: figure.end(), replacement });
                }
            }
        }
    }
    spans
}

/// A price is scaled like the bars, and a total like the company.
fn factor(entity: &Entity, unit: Unit, is_total: bool) -> Decimal {
    match unit {
        Unit::Money if is_total => entity.size_factor,
        Unit::Money => entity.price_factor,
        Unit::Shares => Decimal::ONE.checked_div(entity.price_factor).unwrap_or(Decimal::ONE),
    }
}

/// A number with as many decimals as before, and with separators if it had any.
fn scaled(text: &str, factor: Decimal) -> Option<String> {
    let has_separators = text.contains(',');
    let plain = text.replace(',', "");
    let decimals = plain.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let number: Decimal = plain.parse().ok()?;
    let number = number.checked_mul(factor)?;
    let decimals = u32::try_from(decimals).ok()?;
    let number = number.round_dp_with_strategy(decimals, RoundingStrategy::MidpointAwayFromZero);
    let text = format!("{number:.width$}", width = decimals as usize);
    if !has_separators {
        return Some(text);
    }
    let (whole, rest) =
        text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let mut separated = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            separated.push(',');
        }
        separated.push(digit);
    }
    if let Some(rest) = rest {
        separated.push('.');
        separated.push_str(rest);
    }
    Some(separated)
}

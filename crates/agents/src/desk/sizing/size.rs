//! How much the Trader asks for, in words.

use crate::desk::answer::{Unparseable, figures, half_width};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// An amount that a proposal's `position_sizing` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// How much.
    pub amount: Amount,
    /// Is it what the position is to come to (`reduce to 5%`), and not what is to be traded?
    pub to: bool,
}

/// An amount by what it is measured in. All are above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// A share of the account's equity: `5% of portfolio`, `0.05`, `仓位的20%`, `半仓`.
    Portfolio(Decimal),
    /// A share of a position, of a full one where it is opened, of the one held where it is reduced:
    /// `half position`, `50% of the position`, `减仓一半`.
    Position(Decimal),
    /// Shares or units: `10 shares`, `200股`.
    Quantity(Decimal),
    /// Money: `$5,000`, `1万元`.
    Money(Decimal),
}

/// Words for what is counted.
const SHARES: [&str; 16] = [
    "shares",
    "share",
    "units",
    "unit",
    "contracts",
    "contract",
    "coins",
    "coin",
    "股",
    "个",
    "份",
    "枚",
    "btc",
    "eth",
    "lots",
    "手",
];

/// Fractions in words, with what they are of.
const WORDS: [(&str, i64, i64); 16] = [
    ("three quarters", 3, 4),
    ("three-quarters", 3, 4),
    ("two thirds", 2, 3),
    ("two-thirds", 2, 3),
    ("one third", 1, 3),
    ("a third", 1, 3),
    ("one-third", 1, 3),
    ("a quarter", 1, 4),
    ("one quarter", 1, 4),
    ("quarter", 1, 4),
    ("half", 1, 2),
    ("full", 1, 1),
    ("entire", 1, 1),
    ("whole", 1, 1),
    ("三分之一", 1, 3),
    ("四分之一", 1, 4),
];

impl Size {
    /// Reads a size: `5% of portfolio`, `10 shares`, `仓位的20%`, `half position`, `0.05`, `$5,000`.
    ///
    /// # Errors
    /// A sentence, where it names no amount, several, or one that is not above zero; and for a bare
    /// number above 1, which may be shares or percent.
    pub fn parse(text: &str) -> Result<Self, Unparseable> {
        let plain = half_width(text).to_lowercase().replace(['*', '`', '_'], "");
        let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown: String = text.trim().chars().take(60).collect();
        let fail = |why: &str| Unparseable::new(format!("the size `{shown}` {why}"));
        let to = [" to ", "降至", "减至", "减到", "降到", "增至", "加至", "加到"]
            .iter()
            .any(|word| format!(" {plain}").contains(word));
        let amount = match fraction(&plain) {
            Some(amount) => amount,
            None => number(&plain).map_err(|why| fail(&why))?,
        };
        let (Amount::Portfolio(value)
        | Amount::Position(value)
        | Amount::Quantity(value)
        | Amount::Money(value)) = amount;
        if value <= Decimal::ZERO {
            return Err(fail("is not above zero"));
        }
        if matches!(amount, Amount::Position(_)) && value > Decimal::ONE {
            return Err(fail("is more than a whole position"));
        }
        let to = to && !plain.contains("up to ");
        Ok(Self { amount, to })
    }
}

/// Fractions in words; `None` where a digit stands in the text.
fn fraction(text: &str) -> Option<Amount> {
    if text.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    // 成 is a tenth: 两成仓位.
    for (digit, tenths) in [
        ("一", 1),
        ("两", 2),
        ("二", 2),
        ("三", 3),
        ("四", 4),
        ("五", 5),
        ("六", 6),
        ("七", 7),
        ("八", 8),
        ("九", 9),
    ] {
        if text.contains(&format!("{digit}成")) {
            return Some(Amount::Portfolio(Decimal::new(tenths, 1)));
        }
    }
    if text.contains("半仓") {
        return Some(Amount::Portfolio(Decimal::new(5, 1)));
    }
    if ["全仓", "满仓"].iter().any(|word| text.contains(word)) {
        return Some(Amount::Portfolio(Decimal::ONE));
    }
    if ["一半", "半数"].iter().any(|word| text.contains(word)) {
        return Some(Amount::Position(Decimal::new(5, 1)));
    }
    if ["全部", "清仓", "所有"].iter().any(|word| text.contains(word))
        || text == "all"
        || text.starts_with("all ")
    {
        return Some(Amount::Position(Decimal::ONE));
    }
    let (_, above, below) = WORDS.iter().find(|(word, _, _)| text.contains(word))?;
    let share = Decimal::from(*above) / Decimal::from(*below);
    Some(if is_of_portfolio(text) { Amount::Portfolio(share) } else { Amount::Position(share) })
}

fn number(text: &str) -> Result<Amount, String> {
    let figures = figures(text).map_err(str::to_owned)?;
    // `1/2 position`
    if let ([above, below], true) = (figures.as_slice(), text.contains('/'))
        && !above.percent
        && !below.percent
        && below.value > Decimal::ZERO
        && above.value <= below.value
        && text.starts_with(&format!("{}/{}", above.value, below.value))
    {
        let share = above.value / below.value;
        return Ok(if is_of_portfolio(text) { Amount::Portfolio(share) } else { Amount::Position(share) });
    }
    let percents: Vec<_> = figures.iter().filter(|figure| figure.percent).collect();
    let counted = SHARES.iter().any(|word| follows_number(text, word));
    match (percents.as_slice(), figures.as_slice()) {
        (_, []) => Err("names no amount".to_owned()),
        (_, [only]) if only.percent => Ok(share_of(text, only.value / Decimal::ONE_HUNDRED)),
        (_, [only]) if counted && text.contains('手') => {
            Ok(Amount::Quantity(only.value * Decimal::ONE_HUNDRED))
        }
        (_, [only]) if counted && (text.contains(" lots") || text.contains(" lot")) => {
            Err(format!("counts lots ({}), not shares", only.value))
        }
        (_, [only]) if counted => Ok(Amount::Quantity(only.value)),
        (_, [only]) if only.currency => Ok(Amount::Money(only.value)),
        (_, [only]) if only.value <= Decimal::ONE => Ok(share_of(text, only.value)),
        (_, [only]) => Err(format!("is a bare {}, which may be shares or percent", only.value)),
        // `10 shares (5% of portfolio)`, `5% of portfolio, about $5,000`: what stands first counts.
        ([_, ..], [first, rest @ ..]) if rest.len() == 1 && !is_range(text) => {
            let head = head_of(text);
            if head.len() == text.len() {
                return Err("names several amounts".to_owned());
            }
            number(head).map_err(|_| format!("names several amounts, {} first", first.value))
        }
        _ => Err("names several amounts".to_owned()),
    }
}

/// What stands before a bracket, a comma or an `about`.
fn head_of(text: &str) -> &str {
    let cut = ["(", ", ", "，", "；", ";", " about ", "约"].iter().filter_map(|mark| text.find(mark)).min();
    text[..cut.unwrap_or(text.len())].trim()
}

fn is_range(text: &str) -> bool {
    text.contains("%-") || text.contains('~') || text.contains('–') || text.contains('至')
}

fn share_of(text: &str, share: Decimal) -> Amount {
    let of_position = [
        "of position",
        "of the position",
        "of current",
        "of our position",
        "of holdings",
        "of the holding",
        "of existing",
        "of my position",
        "of shares held",
        "持仓的",
        "持股的",
        "现有仓位",
        "所持",
    ];
    let closes = ["减仓", "减持", "卖出", "sell ", "trim ", "reduce "].iter().any(|word| text.contains(word));
    if of_position.iter().any(|words| text.contains(words)) || (closes && text.contains("仓位的")) {
        Amount::Position(share)
    } else {
        Amount::Portfolio(share)
    }
}

fn is_of_portfolio(text: &str) -> bool {
    ["portfolio", "account", "equity", "capital", "cash", "资金", "组合", "总仓", "账户"]
        .iter()
        .any(|word| text.contains(word))
}

/// Does the word stand right behind a number?
fn follows_number(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].trim_end();
        before.ends_with(|c: char| c.is_ascii_digit()) || before.ends_with(['万', '千', 'k'])
    })
}

//! The Trader's size in words.

use crate::desk::answer::{Figure, Unparseable, figures, half_width};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// The size that a proposal's `position_sizing` requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// The amount.
    pub amount: Amount,
    /// Whether it is the resulting position (`reduce to 5%`), as opposed to the quantity to trade.
    pub to: bool,
}

/// An amount by its unit. Never negative; zero means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// A fraction of the account's equity: `5% of portfolio`, `0.05`, `仓位的20%`, `半仓`.
    Portfolio(Decimal),
    /// A fraction of a position: of a full one when opening, of the one held when reducing: `half position`,
    /// `50% of the position`, `减仓一半`.
    Position(Decimal),
    /// Shares or units: `10 shares`, `200股`.
    Quantity(Decimal),
    /// Money: `$5,000`, `1万元`.
    Money(Decimal),
}

/// Words for units.
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

/// Fractions in words, with what they are fractions of.
const WORDS: [(&str, i64, i64); 14] = [
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
];

impl Size {
    /// Parses a size: `5% of portfolio`, `10 shares`, `仓位的20%`, `half position`, `0.05`, `$5,000`. A range,
    /// `5-10%`, gives its lower end.
    ///
    /// # Errors
    /// A sentence, when it names no amount, several, or a negative one; and for a bare number above 1, which
    /// may be shares or percent.
    pub fn parse(text: &str) -> Result<Self, Unparseable> {
        let plain = half_width(text).to_lowercase().replace(['*', '`', '_'], "");
        let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown: String = text.trim().chars().take(60).collect();
        let fail = |why: &str| Unparseable::new(format!("the size `{shown}` {why}"));
        let plain = lower_end(&plain).map_err(fail)?;
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
        if value < Decimal::ZERO {
            return Err(fail("is below zero"));
        }
        if matches!(amount, Amount::Position(_)) && value > Decimal::ONE {
            return Err(fail("is more than a whole position"));
        }
        let to = to && !plain.contains("up to ");
        Ok(Self { amount, to })
    }
}

impl Size {
    /// Whether nothing is to be traded. Reducing a position to zero is a trade.
    #[must_use]
    pub const fn is_nothing(self) -> bool {
        let (Amount::Portfolio(value)
        | Amount::Position(value)
        | Amount::Quantity(value)
        | Amount::Money(value)) = self.amount;
        value.is_zero() && !self.to
    }
}

/// Words that may surround a fraction in words. Any other word may change its meaning.
const PLAIN: [&str; 44] = [
    "a",
    "about",
    "account",
    "add",
    "all",
    "allocation",
    "an",
    "approximately",
    "at",
    "buy",
    "by",
    "capital",
    "cash",
    "close",
    "current",
    "cut",
    "equity",
    "existing",
    "exit",
    "held",
    "holding",
    "holdings",
    "in",
    "my",
    "normal",
    "of",
    "open",
    "our",
    "portfolio",
    "position",
    "reduce",
    "roughly",
    "sell",
    "shares",
    "size",
    "sized",
    "sizing",
    "stake",
    "standard",
    "target",
    "the",
    "to",
    "trim",
    "usual",
];

/// Parses fractions in words; `None` when the text contains a digit, or words around the fraction may change
/// its meaning.
fn fraction(text: &str) -> Option<Amount> {
    if text.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if text.is_ascii() { english_fraction(text) } else { chinese_fraction(text) }
}

fn english_fraction(text: &str) -> Option<Amount> {
    let mut rest = format!(" {} ", text.replace([',', '.', ';', '(', ')', '-'], " "));
    let mut shares: Vec<Decimal> = Vec::new();
    for (word, above, below) in WORDS {
        let word = format!(" {} ", word.replace('-', " "));
        if rest.contains(&word) {
            rest = rest.replace(&word, " ");
            shares.push(Decimal::from(above) / Decimal::from(below));
        }
    }
    let is_all = rest.trim() == "all" || rest.starts_with(" all ");
    if is_all && shares.is_empty() {
        shares.push(Decimal::ONE);
    }
    if rest.split_whitespace().any(|word| !PLAIN.contains(&word)) {
        return None;
    }
    // `half to full` gives the lower end. `full position, half now` is not a range.
    let is_range = shares.len() == 1 || text.contains(" to ") || text.contains('-');
    let share = *shares.iter().min().filter(|_| is_range)?;
    Some(if is_of_portfolio(text) { Amount::Portfolio(share) } else { Amount::Position(share) })
}

fn chinese_fraction(text: &str) -> Option<Amount> {
    const DIGITS: [char; 10] = ['一', '二', '三', '四', '五', '六', '七', '八', '九', '两'];
    let denied = ['不', '勿', '别', '非', '未', '无', '没', '或', '后', '再'];
    if text.chars().count() > 12 || text.contains(denied) {
        return None;
    }
    // 成 is a tenth: 两成仓位.
    let digits: Vec<usize> =
        text.chars().filter_map(|c| DIGITS.iter().position(|digit| *digit == c)).collect();
    if let Some(before) = text.split_once('成').and_then(|(before, _)| before.chars().next_back()) {
        let place = DIGITS.iter().position(|digit| *digit == before).filter(|_| digits.len() == 1)?;
        let tenths = if before == '两' { 2 } else { place + 1 };
        return Some(Amount::Portfolio(Decimal::new(i64::try_from(tenths).ok()?, 1)));
    }
    let words = [
        ("半仓", Amount::Portfolio(Decimal::new(5, 1))),
        ("全仓", Amount::Portfolio(Decimal::ONE)),
        ("满仓", Amount::Portfolio(Decimal::ONE)),
        ("一半", Amount::Position(Decimal::new(5, 1))),
        ("半数", Amount::Position(Decimal::new(5, 1))),
        ("全部", Amount::Position(Decimal::ONE)),
        ("清仓", Amount::Position(Decimal::ONE)),
        ("所有", Amount::Position(Decimal::ONE)),
        ("三分之一", Amount::Position(Decimal::ONE / Decimal::from(3))),
        ("四分之一", Amount::Position(Decimal::new(25, 2))),
    ];
    let mut named = words.into_iter().filter(|(word, _)| text.contains(word)).map(|(_, amount)| amount);
    let amount = named.next().filter(|_| named.next().is_none())?;
    Some(match amount {
        Amount::Position(share) if is_of_portfolio(text) => Amount::Portfolio(share),
        other => other,
    })
}

/// The text with its first range, `5% - 10%`, `between 5 and 10 shares`, `10至20股`, replaced by the lower end.
fn lower_end(text: &str) -> Result<String, &'static str> {
    let figures = figures(text)?;
    for pair in figures.windows(2) {
        let [low, high] = pair else { continue };
        let between = &text[low.end..high.start];
        // Allowed next to the mark: the first number's unit, the second one's currency.
        let unit = between.trim_start_matches(['%', ' ', '股', '元', '手', '万', '成', 'k', '$', '¥']);
        let unit = SHARES.iter().find_map(|word| unit.strip_prefix(word)).unwrap_or(unit);
        let mark = unit.trim_matches([' ', '$', '¥']);
        let after_between = text[..low.start].contains("between") || text[..low.start].contains('在');
        let joins = matches!(mark, "-" | "--" | "–" | "—" | "~" | "～" | "to" | "至" | "到")
            || (after_between && matches!(mark, "and" | "和"));
        // `10 shares to 5%`, `5 (10%)`: not a range.
        if !joins {
            continue;
        }
        // `raise it from 5% to 10%` is a change, `from 5% to 10%` a range.
        let lead = text[..low.start].trim_end_matches([' ', '$', '¥']);
        if lead.strip_suffix("from").or_else(|| lead.strip_suffix('从')).is_some_and(|lead| !lead.is_empty())
        {
            return Err("is not a clear range");
        }
        let digits = |figure: &Figure| {
            text[figure.start..figure.end]
                .replace(',', "")
                .parse::<Decimal>()
                .map_err(|_| "is not a clear range")
        };
        let own_unit = |text: &str| text.starts_with(['万', 'k', '成']);
        let (first, second) = (digits(low)?, digits(high)?);
        if first > second && own_unit(&text[low.end..]) != own_unit(&text[high.end..]) {
            return Err("is not a clear range");
        }
        return Ok(format!("{}{}{}", &text[..low.start], first.min(second), &text[high.end..]));
    }
    Ok(text.to_owned())
}

fn number(text: &str) -> Result<Amount, String> {
    let figures = figures(text).map_err(str::to_owned)?;
    // `keep 80% in cash`, `with a stop 5% below`: a number, but not a size.
    if figures.first().is_some_and(|first| !leads_to_amount(&text[..first.start], &text[first.end..])) {
        return Err("does not begin with an amount".to_owned());
    }
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
        // `10 shares (5% of portfolio)`, `5% of portfolio, about $5,000`: the first one counts.
        ([_, ..], [first, rest @ ..]) if rest.len() == 1 => {
            let head = head_of(text);
            if head.len() == text.len() {
                return Err("names several amounts".to_owned());
            }
            number(head).map_err(|_| format!("names several amounts, {} first", first.value))
        }
        _ => Err("names several amounts".to_owned()),
    }
}

/// Words that may precede a number that is a size.
const LEADS: [&str; 46] = [
    "a",
    "about",
    "account",
    "add",
    "allocate",
    "allocation",
    "an",
    "approximately",
    "around",
    "at",
    "be",
    "between",
    "buy",
    "by",
    "capital",
    "circa",
    "cut",
    "equal",
    "equity",
    "from",
    "hkd",
    "invest",
    "max",
    "maximum",
    "most",
    "of",
    "open",
    "our",
    "portfolio",
    "position",
    "purchase",
    "reduce",
    "rmb",
    "roughly",
    "sell",
    "shares",
    "short",
    "size",
    "sizing",
    "target",
    "the",
    "to",
    "trim",
    "up",
    "us",
    "usd",
];

fn leads_to_amount(before: &str, after: &str) -> bool {
    let words = before.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let after = after.trim_start_matches([' ', '%']);
    words.into_iter().all(|word| LEADS.contains(&word))
        && !after.starts_with("in cash")
        && !after.starts_with("cash")
}

/// The text before a bracket, a comma or an `about`.
fn head_of(text: &str) -> &str {
    let cut = ["(", ", ", "，", "；", ";", " about ", "约"].iter().filter_map(|mark| text.find(mark)).min();
    text[..cut.unwrap_or(text.len())].trim()
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

/// Whether the word directly follows a number.
fn follows_number(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].trim_end();
        before.ends_with(|c: char| c.is_ascii_digit()) || before.ends_with(['万', '千', 'k'])
    })
}

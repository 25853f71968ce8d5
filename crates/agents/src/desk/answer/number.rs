//! Numbers as models write them.

use super::Unparseable;
use super::text::half_width;
use rust_decimal::Decimal;

/// Words for a missing number.
const NONE: [&str; 20] = [
    "",
    "-",
    "--",
    "—",
    "–",
    "n/a",
    "na",
    "none",
    "null",
    "nil",
    "not applicable",
    "not specified",
    "unspecified",
    "no target",
    "tbd",
    "无",
    "不适用",
    "暂无",
    "未设定",
    "没有",
];

/// Currencies before or after a number. Longer ones come before their own prefixes.
const CURRENCIES: [&str; 22] = [
    "us$",
    "hk$",
    "usdt",
    "usd",
    "cny",
    "rmb",
    "hkd",
    "eur",
    "gbp",
    "jpy",
    "dollars",
    "dollar",
    "人民币",
    "港元",
    "美元",
    "元",
    "$",
    "¥",
    "￥",
    "€",
    "£",
    "块",
];

/// Multipliers after a number.
const UNITS: [(&str, u64); 12] = [
    ("thousand", 1_000),
    ("million", 1_000_000),
    ("billion", 1_000_000_000),
    ("万亿", 1_000_000_000_000),
    ("千万", 10_000_000),
    ("百万", 1_000_000),
    ("亿", 100_000_000),
    ("万", 10_000),
    ("千", 1_000),
    ("k", 1_000),
    ("m", 1_000_000),
    ("b", 1_000_000_000),
];

/// A number with its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Figure {
    /// Its value, multiplied by its unit; 12 for `12%`.
    pub(crate) value: Decimal,
    /// Whether it is a percentage.
    pub(crate) percent: bool,
    /// Whether it has a currency sign.
    pub(crate) currency: bool,
    /// Where its digits start and end in the text.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Whether the text says that there is no number.
pub(crate) fn is_none(text: &str) -> bool {
    let text = half_width(text).to_lowercase();
    NONE.contains(&text.trim().trim_end_matches(['.', '。']).trim())
}

/// Parses a text that is a single number: `$1,234.50`, `USD 12`, `1.2万元`, `12%` (as 0.12), `3e2`, `around 180
/// (the 20-day average)`.
///
/// # Errors
/// No number, several, `NaN`, an infinity, or one that does not fit a decimal.
pub fn parse_number(text: &str) -> Result<Decimal, Unparseable> {
    let figure = figure(text)?;
    if figure.percent { Ok((figure.value / Decimal::ONE_HUNDRED).normalize()) } else { Ok(figure.value) }
}

/// Like [`parse_number`], with the number's currency or percent sign.
pub(crate) fn figure(text: &str) -> Result<Figure, Unparseable> {
    let plain = half_width(text).to_lowercase().replace(['*', '`', '_'], "");
    let plain = without_brackets(&plain);
    let shown = || text.trim().chars().take(60).collect::<String>();
    let mut figures = figures(&plain).map_err(|why| Unparseable::new(format!("`{}` {why}", shown())))?;
    // `180, 5% below the entry`: the percentage explains the price.
    if figures.iter().any(|figure| !figure.percent) {
        figures.retain(|figure| !figure.percent);
    }
    match figures.as_slice() {
        [] => Err(Unparseable::new(format!("`{}` is not a number", shown()))),
        [only] => Ok(*only),
        _ => Err(Unparseable::new(format!("`{}` names several numbers", shown()))),
    }
}

/// The text without its parenthesized explanations.
fn without_brackets(text: &str) -> String {
    let mut depth = 0_usize;
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

/// Every number of a text, which must be half-width and in lower case.
pub(crate) fn figures(text: &str) -> Result<Vec<Figure>, &'static str> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut before = String::new();
    while let Some(c) = rest.chars().next() {
        // A digit inside a word (`q3`, `ma20`, `20-day`) is not part of a number.
        let in_word = before.ends_with(|c: char| c.is_ascii_alphabetic()) && !ends_with_currency(&before);
        if c.is_ascii_digit() && !in_word && !before.ends_with(|c: char| c.is_ascii_digit()) {
            let (figure, length) = read_at(rest, &before)?;
            let start = text.len() - rest.len();
            found.extend(figure.map(|figure| Figure { start, end: start + figure.end, ..figure }));
            before.push_str(&rest[..length]);
            rest = &rest[length..];
        } else {
            before.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    Ok(found)
}

fn ends_with_currency(before: &str) -> bool {
    CURRENCIES.iter().any(|sign| before.ends_with(sign))
}

/// The number at the text's start and its length in bytes; `None` when it is part of a name, as in `20-day`.
fn read_at(text: &str, before: &str) -> Result<(Option<Figure>, usize), &'static str> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != ',' && c != '.').unwrap_or(text.len());
    let mut length = text[..digits].trim_end_matches([',', '.']).len();
    if let Some(exponent) = text[length..].strip_prefix('e') {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let power = exponent[sign..].bytes().take_while(u8::is_ascii_digit).count();
        if power > 0 {
            length += 1 + sign + power;
        }
    }
    let mut value = decimal(&text[..length])?;
    let end = length;
    let after = &text[length..];
    if after.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic())) {
        return Ok((None, length));
    }
    let spaced = after.trim_start_matches(' ');
    let gap = after.len() - spaced.len();
    if let Some((unit, factor)) = UNITS.iter().find(|(unit, _)| {
        spaced.strip_prefix(unit).is_some_and(|rest| {
            unit.chars().all(|c| !c.is_ascii()) || !rest.starts_with(|c: char| c.is_ascii_alphanumeric())
        })
    }) {
        value = value.checked_mul(Decimal::from(*factor)).ok_or("is too large")?;
        length += gap + unit.len();
    }
    let after = text[length..].trim_start_matches(' ');
    let percent = after.starts_with('%') || after.starts_with("percent") || before.ends_with("百分之");
    let after_money = CURRENCIES.iter().any(|sign| after.starts_with(sign));
    let before_money = ends_with_currency(before.trim_end_matches([' ', '-', '+']));
    if is_minus(before) {
        value = -value;
    }
    let (value, currency) = (value.normalize(), after_money || before_money);
    Ok((Some(Figure { value, percent, currency, start: 0, end }), length))
}

/// Whether a minus sign precedes the number, as opposed to a range (`180-185`) or a date.
fn is_minus(before: &str) -> bool {
    let mut before = before.trim_end_matches(' ');
    loop {
        let stripped = CURRENCIES.iter().find_map(|sign| before.strip_suffix(sign));
        match stripped {
            Some(rest) => before = rest.trim_end_matches(' '),
            None => break,
        }
    }
    let Some(rest) = before.strip_suffix(['-', '−']) else { return before.ends_with('负') };
    !rest.ends_with(|c: char| c.is_alphanumeric() || c == '%')
}

/// Digits with or without thousands separators, with or without an exponent.
fn decimal(text: &str) -> Result<Decimal, &'static str> {
    let (mantissa, exponent) = text.split_once('e').map_or((text, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    if fraction.is_some_and(|fraction| fraction.contains(['.', ','])) {
        return Err("is not a number");
    }
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let mut rest = groups.peekable();
    if rest.peek().is_some() && (first.is_empty() || first.len() > 3) || rest.any(|group| group.len() != 3) {
        return Err("has misplaced thousands separators");
    }
    let mut plain = whole.replace(',', "");
    if let Some(fraction) = fraction {
        plain = format!("{plain}.{fraction}");
    }
    let value = match exponent {
        Some(exponent) => Decimal::from_scientific(&format!("{plain}e{exponent}")).ok(),
        None => plain.parse().ok(),
    };
    value.ok_or("is too large or has too many decimals")
}

//! Masked symbols: of the same form as the real ones, in the same order, and none of them a real one.

use super::draw::Seed;
use papertape_core::id::Symbol;
use std::collections::{BTreeMap, BTreeSet};

/// Letters without vowels: no word can be spelled.
const LETTERS: &[u8] = b"BCDFGHJKLMNPQRSTVWXZ";
/// One of these is in every masked symbol. They are rare in real ones.
const RARE: &[u8] = b"JQVXZ";
/// Letters of a masked symbol.
const LENGTH: usize = 4;
/// Draws per needed symbol, at least.
const TRIES: usize = 400;

/// What follows the base asset in a symbol without a separator.
const QUOTES: [&str; 9] = ["USDTPERP", "FDUSD", "USDT", "USDC", "BUSD", "TUSD", "PERP", "SWAP", "USD"];

/// The prefixes of the mainland Chinese boards. A masked code keeps its board, on which lots and price limits depend.
const BOARDS: [&[&str]; 4] =
    [&["600", "601", "603", "605"], &["000", "001", "002", "003"], &["688", "689"], &["300", "301", "302"]];

/// The parts of a symbol: only the core is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SymbolForm {
    pub(super) before: String,
    pub(super) core: String,
    pub(super) after: String,
}

impl SymbolForm {
    pub(super) fn of(symbol: &Symbol) -> Self {
        let text = symbol.as_str();
        let start = text.find(|c: char| c.is_alphanumeric()).unwrap_or(0);
        if let Some(found) = code(text) {
            return found;
        }
        let rest = &text[start..];
        let mut end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let is_quoted = |quote: &&&str| {
            end == rest.len() && rest.len() >= quote.len() + 3 && rest.to_ascii_uppercase().ends_with(**quote)
        };
        if let Some(quote) = QUOTES.iter().find(is_quoted) {
            end -= quote.len();
        }
        let (core, after) = rest.split_at(end);
        Self { before: text[..start].to_owned(), core: core.to_owned(), after: after.to_owned() }
    }

    /// Whether the core is a numeric code.
    pub(super) fn is_code(&self) -> bool {
        self.core.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn with(&self, core: &str) -> Symbol {
        let core = match self.core.chars().any(|c| c.is_ascii_uppercase()) || self.is_code() {
            true => core.to_owned(),
            false => core.to_ascii_lowercase(),
        };
        Symbol::from(format!("{}{core}{}", self.before, self.after))
    }
}

/// A code of four or more digits, with an exchange before or after it.
fn code(text: &str) -> Option<SymbolForm> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let length = text[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - start);
    let (before, core, after) = (&text[..start], &text[start..start + length], &text[start + length..]);
    let is_exchange =
        |part: &str| part.len() <= 5 && part.chars().all(|c| c.is_ascii_alphabetic() || c == '.');
    (length >= 4 && is_exchange(before) && is_exchange(after)).then(|| SymbolForm {
        before: before.to_owned(),
        core: core.to_owned(),
        after: after.to_owned(),
    })
}

/// The masked symbol of each real one; `None` if a form has too few free symbols.
///
/// `taken` are symbols that no masked one may be, in upper case.
pub(super) fn masked(
    seed: Seed,
    real: &BTreeSet<Symbol>,
    taken: &BTreeSet<String>,
) -> Option<BTreeMap<Symbol, Symbol>> {
    let forms: BTreeMap<&Symbol, SymbolForm> = real.iter().map(|it| (it, SymbolForm::of(it))).collect();
    let mut pools: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for form in forms.values() {
        pools.entry(pool(form)).or_default().insert(&form.core);
    }
    let mut excluded: BTreeSet<String> = forms.values().map(|form| form.core.to_ascii_uppercase()).collect();
    excluded.extend(taken.iter().cloned());
    let mut cores: BTreeMap<(String, &str), String> = BTreeMap::new();
    for (pool, of_pool) in &pools {
        let mut draws = seed.about("symbols", pool);
        let mut drawn = BTreeSet::new();
        for _ in 0..of_pool.len().saturating_mul(TRIES) {
            if drawn.len() == of_pool.len() {
                break;
            }
            let next = match pool.as_str() {
                "" => letters(&mut draws),
                pool => digits(&mut draws, pool, of_pool),
            };
            if !excluded.contains(&next) {
                drawn.insert(next);
            }
        }
        if drawn.len() < of_pool.len() {
            return None;
        }
        // In the same order, since agents and rules go through symbols in order.
        for (core, drawn) in of_pool.iter().zip(drawn) {
            excluded.insert(drawn.clone());
            cores.insert((pool.clone(), core), drawn);
        }
    }
    let of = |(symbol, form): (&&Symbol, &SymbolForm)| {
        let core = cores.get(&(pool(form), form.core.as_str()))?;
        Some(((*symbol).clone(), form.with(core)))
    };
    forms.iter().map(of).collect()
}

/// What a core has in common with those that can stand for it: empty for letters, else a board or a first digit, and
/// the number of digits.
fn pool(form: &SymbolForm) -> String {
    if !form.is_code() {
        return String::new();
    }
    let core = form.core.as_str();
    let board = BOARDS.iter().find(|prefixes| core.len() == 6 && prefixes.contains(&&core[..3]));
    let kept = match board {
        Some(prefixes) => prefixes[0],
        None if core.len() == 6 => &core[..2],
        None => &core[..1],
    };
    format!("{kept}/{}", core.len())
}

fn letters(draws: &mut super::draw::Draws) -> String {
    let rare = draws.below(LENGTH);
    let letter = |at: usize, draws: &mut super::draw::Draws| {
        let from = if at == rare { RARE } else { LETTERS };
        char::from(from[draws.below(from.len())])
    };
    (0..LENGTH).map(|at| letter(at, draws)).collect()
}

fn digits(draws: &mut super::draw::Draws, pool: &str, of_pool: &BTreeSet<&str>) -> String {
    let (kept, length) = pool.split_once('/').unwrap_or((pool, ""));
    let length: usize = length.parse().unwrap_or(kept.len());
    // Of a board, the prefixes that the real ones have first: fewer codes look unusual.
    let prefixes = BOARDS.iter().find(|prefixes| length == 6 && prefixes[0] == kept);
    let kept = match prefixes {
        Some(prefixes) if of_pool.len() > 100 => draws.of(prefixes),
        _ => kept,
    };
    let mut code = kept.to_owned();
    while code.len() < length {
        code.push(char::from(b'0' + u8::try_from(draws.below(10)).unwrap_or_default()));
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use papertape_core::broker::Board;
    use papertape_core::id::ContentHash;

    fn of(symbols: &[&str]) -> BTreeMap<Symbol, Symbol> {
        let real = symbols.iter().map(Symbol::new).collect();
        masked(Seed::new(ContentHash::of(b"x")), &real, &BTreeSet::new()).expect("enough symbols")
    }

    /// Goal: masked symbols keep what market rules read from a symbol, and its place in the order.
    #[test]
    fn a_masked_symbol_has_the_form_and_the_order_of_the_real_one() {
        let symbols = [
            "000001.SZ",
            "0700.HK",
            "300750.SZ",
            "510300",
            "600519",
            "688981.SH",
            "AAPL",
            "BRK.A",
            "BRK.B",
            "BTC-USD",
            "BTCUSDT",
            "ETHUSDTPERP",
            "IBM",
            "^GSPC",
            "sz000002",
        ];
        let found = of(&symbols);
        assert_eq!(found, of(&symbols), "the same dataset, the same mask");
        for (real, masked) in &found {
            assert!(!symbols.contains(&masked.as_str()), "{masked}");
            assert_eq!(Board::of(real), Board::of(masked), "{real} {masked}");
            let (a, b) = (SymbolForm::of(real), SymbolForm::of(masked));
            assert_eq!((a.before, a.after), (b.before, b.after), "{real} {masked}");
        }
        assert!(found["510300"].as_str().starts_with("51"));
        let base = |symbol: &str| found[symbol].as_str()[..LENGTH].to_owned();
        assert_eq!(base("BRK.A"), base("BRK.B"));
        assert_eq!(base("BTC-USD"), base("BTCUSDT"));
        let letters: Vec<&Symbol> = ["AAPL", "BRK.A", "BRK.B", "IBM"].map(|it| &found[it]).to_vec();
        assert!(letters.is_sorted(), "{letters:?}");
    }

    /// Goal: a whole board can be masked, and no code of it is a real one.
    #[test]
    fn a_board_with_most_of_its_codes_can_be_masked() {
        let codes: Vec<String> = (0..900).map(|n| format!("600{n:03}.SH")).collect();
        let real: Vec<&str> = codes.iter().map(String::as_str).collect();
        let found = of(&real);
        assert!(found.values().all(|it| Board::of(it) == Some(Board::Main) && !real.contains(&it.as_str())));
        assert!(found.values().is_sorted());
    }
}

//! Masked names of companies, and the parts of a real name that texts use.

use super::draw::Seed;
use std::collections::BTreeSet;

/// Beginnings, middles and ends of masked names.
const STARTS: &[&str] = &[
    "Bel", "Bry", "Cal", "Cor", "Dal", "Dren", "El", "Fal", "Fen", "Gal", "Hal", "Hel", "Jor", "Kel", "Kor",
    "Lan", "Mal", "Mer", "Nor", "Ol", "Pel", "Quen", "Ral", "Sel", "Tal", "Tor", "Val", "Vel", "Wen", "Zel",
];
const MIDDLES: &[&str] = &[
    "ba", "be", "da", "di", "do", "fi", "ga", "ka", "la", "li", "lo", "mi", "na", "no", "ri", "ro", "sa",
    "ta", "vi", "vo",
];
const ENDS: &[&str] = &[
    "bex", "dane", "dor", "fex", "gren", "lux", "mark", "nex", "nor", "quin", "rex", "ric", "ron", "sett",
    "vane", "ward",
];
/// Characters of masked Chinese names.
const CHARACTERS: &[&str] = &[
    "岭", "澜", "屿", "昀", "泽", "曜", "衡", "川", "沐", "朔", "晟", "霁", "垣", "陌", "笙", "砚", "岚",
    "汀", "棠", "槿", "珩", "琛", "璟", "翊", "舷", "荻", "蔚", "虞", "衍", "钧", "铄", "陇", "颢", "骁",
    "鸢", "黎",
];

/// Legal forms and kinds of shares at the end of a name, in lower case and without periods. Texts leave them out.
const SUFFIXES: &[&str] = &[
    "inc",
    "incorporated",
    "corp",
    "corporation",
    "co",
    "company",
    "companies",
    "ltd",
    "limited",
    "plc",
    "llc",
    "lp",
    "nv",
    "sa",
    "ag",
    "se",
    "ab",
    "asa",
    "spa",
    "kk",
    "bhd",
    "pte",
    "group",
    "holdings",
    "holding",
    "trust",
    "&",
    "the",
    "class",
    "a",
    "b",
    "c",
    "common",
    "stock",
    "ordinary",
    "shares",
    "adr",
    "ads",
    "com",
    "index",
];
/// The same of Chinese names, longest first.
const CHINESE_SUFFIXES: [&str; 9] =
    ["股份有限公司", "有限责任公司", "有限公司", "控股集团", "集团", "控股", "股份", "公司", "指数"];

/// First words of names that are also words of texts: alone they name nobody.
const COMMON_WORDS: &[&str] = &[
    "advance",
    "advanced",
    "air",
    "alliance",
    "allied",
    "american",
    "analog",
    "applied",
    "associated",
    "atlantic",
    "auto",
    "bank",
    "best",
    "blue",
    "boston",
    "british",
    "build",
    "capital",
    "card",
    "central",
    "charter",
    "china",
    "chinese",
    "church",
    "cincinnati",
    "citizens",
    "columbia",
    "commercial",
    "consolidated",
    "continental",
    "cross",
    "crown",
    "delta",
    "deutsche",
    "digital",
    "dollar",
    "dominion",
    "eastern",
    "electronic",
    "energy",
    "equity",
    "essential",
    "european",
    "extra",
    "federal",
    "fifth",
    "financial",
    "first",
    "general",
    "global",
    "golden",
    "hong",
    "industrial",
    "intercontinental",
    "international",
    "japan",
    "juniper",
    "keurig",
    "liberty",
    "micro",
    "midwest",
    "modern",
    "monster",
    "national",
    "news",
    "norfolk",
    "northern",
    "pacific",
    "palo",
    "parker",
    "penn",
    "people's",
    "pioneer",
    "power",
    "principal",
    "progressive",
    "public",
    "quest",
    "raymond",
    "realty",
    "regions",
    "republic",
    "royal",
    "simon",
    "southern",
    "southwest",
    "standard",
    "state",
    "texas",
    "united",
    "universal",
    "western",
];
/// Names that are words of texts in lower case.
const LOWER_CASE_WORDS: &[&str] = &[
    "allegiance",
    "ball",
    "block",
    "box",
    "build",
    "carnival",
    "chase",
    "coach",
    "coast",
    "chart",
    "discover",
    "dominion",
    "express",
    "fastly",
    "ford",
    "gap",
    "garrison",
    "gilead",
    "guess",
    "harmony",
    "hess",
    "hope",
    "key",
    "lear",
    "lowe",
    "match",
    "meta",
    "mosaic",
    "nov",
    "oracle",
    "polaris",
    "post",
    "pool",
    "prudential",
    "shell",
    "snap",
    "square",
    "sprint",
    "target",
    "unity",
    "visa",
    "waters",
    "wish",
    "zoom",
];

/// Whether a text has Chinese characters.
pub(super) fn is_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{3400}'..='\u{9fff}').contains(&c))
}

/// A name's parts: what identifies the company, and the legal form after it.
pub(super) fn split(name: &str) -> (&str, &str) {
    let name = name.trim();
    if is_chinese(name) {
        let suffix = CHINESE_SUFFIXES.iter().find(|it| name.len() > it.len() + 3 && name.ends_with(**it));
        return name.split_at(name.len() - suffix.map_or(0, |it| it.len()));
    }
    let mut end = name.len();
    while let Some(at) = name[..end].rfind([' ', ',', '.']) {
        let word: String = name[at..end]
            .chars()
            .filter(|c| c.is_alphanumeric() || *c == '&')
            .collect::<String>()
            .to_lowercase();
        if !word.is_empty() && !SUFFIXES.contains(&word.as_str()) {
            break;
        }
        end = at;
    }
    let base = name[..end].trim_end_matches([' ', ',', '.', '&', '-']);
    let base = if base.is_empty() { name } else { base };
    (base, &name[base.len()..])
}

/// The forms in which texts name a company, from its full name, without legal forms.
pub(super) fn forms(name: &str) -> Vec<String> {
    let (base, _) = split(name);
    let base = base.strip_prefix("The ").unwrap_or(base);
    let mut forms = vec![base.to_owned()];
    if is_chinese(base) || base.chars().count() < 2 {
        return forms;
    }
    for (one, other) in [(" & ", " and "), (" and ", " & "), ("-", " "), ("'", "’"), ("’", "'")] {
        if base.contains(one) {
            forms.push(base.replace(one, other));
        }
    }
    let mut words = base.split([' ', ',', '.', '-']);
    if let (Some(first), Some(_)) = (words.next(), words.next())
        && first.chars().count() >= 5
        && !COMMON_WORDS.contains(&first.to_lowercase().as_str())
    {
        forms.push(first.to_owned());
    }
    forms
}

/// Whether a name in lower case may be a word of its text.
pub(super) fn is_word(lower_case: &str) -> bool {
    LOWER_CASE_WORDS.contains(&lower_case) || lower_case.chars().count() < 4
}

/// A masked name that is none of the taken ones, in lower case, and is taken afterwards.
pub(super) fn latin(seed: Seed, symbol: &str, taken: &mut BTreeSet<String>) -> String {
    let mut draws = seed.about("name", symbol);
    loop {
        let mut name = draws.of(STARTS).to_owned();
        name.push_str(draws.of(MIDDLES));
        // With most names taken, longer ones.
        if draws.below(8_000) < taken.len() {
            name.push_str(draws.of(MIDDLES));
        }
        name.push_str(draws.of(ENDS));
        if taken.insert(name.to_lowercase()) {
            return name;
        }
    }
}

/// The same in Chinese characters.
pub(super) fn chinese(seed: Seed, symbol: &str, taken: &mut BTreeSet<String>) -> String {
    let mut draws = seed.about("chinese name", symbol);
    loop {
        let name: String = (0..3).map(|_| draws.of(CHARACTERS)).collect();
        if taken.insert(name.clone()) {
            return name;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a name is reduced to what texts call the company.
    #[test]
    fn names_are_reduced_to_what_identifies_them() {
        for (name, base) in [
            ("Apple Inc.", "Apple"),
            ("Apple", "Apple"),
            ("Amazon.com, Inc.", "Amazon"),
            ("The Goldman Sachs Group, Inc.", "The Goldman Sachs"),
            ("Johnson & Johnson", "Johnson & Johnson"),
            ("International Business Machines", "International Business Machines"),
            ("贵州茅台酒股份有限公司", "贵州茅台酒"),
            ("贵州茅台", "贵州茅台"),
            ("Co", "Co"),
        ] {
            assert_eq!(split(name).0, base);
        }
        assert_eq!(forms("Berkshire Hathaway Inc. Class B"), ["Berkshire Hathaway", "Berkshire"]);
        assert_eq!(forms("Bank of America"), ["Bank of America"]);
    }
}

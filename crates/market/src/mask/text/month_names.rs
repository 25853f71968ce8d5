//! English names of months.

/// The names, January first.
const NAMES: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Matches a name or its abbreviation, without the period.
pub(super) const PATTERN: &str = "(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|\
     nov(?:ember)?|dec(?:ember)?)";

/// The month that a name means, from 1.
pub(super) fn month(name: &str) -> Option<i8> {
    let begins = |full: &&str| full.len() >= name.len() && full[..name.len()].eq_ignore_ascii_case(name);
    let at = NAMES.iter().position(begins)?;
    i8::try_from(at + 1).ok()
}

/// The name of a month, written like another month's: in full or short, in the same case.
pub(super) fn like(month: i8, name: &str) -> String {
    let at = usize::try_from(month - 1).unwrap_or_default().min(11);
    let is_full =
        name.len() > 4 || NAMES.iter().any(|full| full.len() > 3 && full.eq_ignore_ascii_case(name));
    let new = if is_full { NAMES[at] } else { &NAMES[at][..3] };
    let is_upper = name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase());
    if is_upper {
        new.to_uppercase()
    } else if name.chars().all(|c| c.is_ascii_lowercase()) {
        new.to_lowercase()
    } else {
        new.to_owned()
    }
}

//! Letters written as escapes: `\u5bc6`, surrogate pairs, `\/`, and the notations of other languages (`\x70`,
//! `\u{5bc6}`, `\U00005bc6`). The rules cannot see a name or a secret written this way, so they also run on
//! the text with its letters restored.
//!
//! JSON inside JSON doubles the backslashes. A run of them counts as one, so a single pass restores the
//! letters at every depth. What JSON itself writes with a backslash (`\"`, `\n`) keeps its backslashes,
//! because the rules read quotes by their depth.

use super::view::View;

/// A backslash can itself be written as an escape (`\u005cu5bc6`), so the text is decoded up to this many
/// times.
const MAX_LAYERS: u32 = 3;

/// The text with its letters restored; `None` when it has no such escapes.
pub(super) fn decoded(text: &str) -> Option<View> {
    let mut view = View::of(text, next, restore)?;
    for _ in 1..MAX_LAYERS {
        let Some(next) = View::of(&view.text, next, restore) else {
            break;
        };
        view = next.over(&view);
    }
    Some(view)
}

/// Whether an escape of a letter begins at this backslash. `\users` and a bare `\x` are not escapes.
pub(super) fn begins(text: &str) -> bool {
    let bytes = text.as_bytes();
    letter(bytes.get(1..).unwrap_or_default()).is_some() || bytes.get(1) == Some(&b'/')
}

fn next(text: &str) -> Option<usize> {
    text.find('\\')
}

fn restore(rest: &str, out: &mut String) -> Option<usize> {
    let bytes = rest.as_bytes();
    let slashes = bytes.iter().take_while(|byte| **byte == b'\\').count();
    let behind = &bytes[slashes..];
    if behind.first() == Some(&b'/') {
        out.push('/');
        return Some(slashes + 1);
    }
    let Some((letter, length)) = letter(behind) else {
        // Skip a long run at once; otherwise a text of backslashes would take quadratic time.
        if slashes > 1 {
            out.push_str(&rest[..slashes]);
            return Some(slashes);
        }
        return None;
    };
    let sign = match letter {
        '"' => Some('"'),
        '\\' => Some('\\'),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        _ => None,
    };
    if let Some(sign) = sign {
        out.push_str(&rest[..slashes]);
        out.push(sign);
    } else if !letter.is_control() {
        out.push(letter);
    }
    Some(slashes + length)
}

/// The letter of an escape without its backslash, and the length of its spelling.
fn letter(escape: &[u8]) -> Option<(char, usize)> {
    match escape {
        [b'u', b'{', behind @ ..] => {
            let digits = behind.iter().take(7).position(|byte| *byte == b'}')?;
            Some((char::from_u32(hex(&behind[..digits])?)?, digits + 3))
        }
        [b'u', behind @ ..] => {
            let unit = hex(behind.get(..4)?)?;
            if !(0xD800..0xDC00).contains(&unit) {
                return Some((char::from_u32(unit)?, 5));
            }
            let slashes = behind[4..].iter().take(16).take_while(|byte| **byte == b'\\').count();
            let low = &behind[4 + slashes..];
            if slashes == 0 || low.first() != Some(&b'u') {
                return None;
            }
            let low = hex(low.get(1..5)?)?.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
            Some((char::from_u32(0x10000 + ((unit - 0xD800) << 10) + low)?, 10 + slashes))
        }
        [b'U', behind @ ..] => Some((char::from_u32(hex(behind.get(..8)?)?)?, 9)),
        [b'x', behind @ ..] => {
            let byte = hex(behind.get(..2)?)?;
            char::from_u32(byte).filter(char::is_ascii).map(|letter| (letter, 3))
        }
        _ => None,
    }
}

pub(super) fn hex(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    digits
        .iter()
        .try_fold(0_u32, |value, digit| value.checked_mul(16)?.checked_add(char::from(*digit).to_digit(16)?))
}

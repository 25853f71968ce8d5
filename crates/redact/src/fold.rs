//! Letters that look like other letters: Cyrillic, Greek and full-width forms, mathematical alphabets,
//! accents, and zero-width characters. People and models read `pаsswоrd` with two Cyrillic letters as
//! `password`, so the rules also run on the text folded to plain letters.

use super::view::View;
use std::borrow::Cow;

/// The base letters of U+00C0 to U+024F; a dot where there is none.
const LATIN: &str = "\
AAAAAA.CEEEEIIII.NOOOOO.OUUUUY..aaaaaa.ceeeeiiii.nooooo.ouuuuy.yAaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIi..Jj\
Kk.LlLlLl..LlNnNnNn...OoOoOo..RrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs................................Oo.............\
Uu............................AaIiOoUuUuUuUuUu.AaAa....GgKkOoOo..j...Gg..NnAa....AaAaEeEeIiIiOoOoRrRrUuUuSsTt..Hh......\
AaEeOoOoOoOoYy............................";

/// The base letters of U+1E00 to U+1EFF.
const LATIN_MORE: &str = "\
AaBbBbBbCcDdDdDdDdDdEeEeEeEeEeFfGgHhHhHhHhHhIiIiKkKkKkLlLlLlLlMmMmMmNnNnNnNnOoOoOoOoPpPpRrRrRrRrSsSsSsSsSsTtTtTtTtUuUuUu\
UuUuVvVvWwWwWwWwWwXxXxYyZzZzZzhtwy.s....AaAaAaAaAaAaAaAaAaAaAaAaEeEeEeEeEeEeEeEeIiIiOoOoOoOoOoOoOoOoOoOoOoOoUuUuUuUuUuUu\
UuYyYyYyYy......";

/// Letters of other alphabets that look like a Latin one.
#[rustfmt::skip]
const ALIKE: &[(&str, char)] = &[
    ("аɑαⲁᴀ", 'a'), ("ьƅвʙ", 'b'), ("сϲⲥᴄ", 'c'), ("ԁժɗᴅ", 'd'), ("еєεҽᴇ", 'e'), ("ꜰſƒ", 'f'), ("ɡցɢ", 'g'), ("һհнʜ", 'h'),
    ("іıɩιɪӏ", 'i'), ("јϳᴊ", 'j'), ("кκᴋ", 'k'), ("ⅼʟⵏ", 'l'), ("мᴍ", 'm'), ("ոռпɴ", 'n'), ("оοօσⲟᴏ", 'o'), ("рρⲣᴘ", 'p'),
    ("ԛզ", 'q'), ("ᴢ", 'z'), ("гʀ", 'r'), ("ѕꜱ", 's'), ("тτᴛ", 't'), ("υսцᴜ", 'u'), ("νѵᴠ", 'v'), ("ԝωᴡ", 'w'), ("хχ", 'x'), ("уүγʏ", 'y'),
    ("АΑ", 'A'), ("ВΒ", 'B'), ("СϹ", 'C'), ("ЕΕ", 'E'), ("НΗ", 'H'), ("ІΙӀ", 'I'), ("Ј", 'J'), ("КΚ", 'K'), ("МΜ", 'M'), ("Ν", 'N'),
    ("ОΟ", 'O'), ("РΡ", 'P'), ("Ѕ", 'S'), ("ТΤ", 'T'), ("ХΧ", 'X'), ("УΥ", 'Y'), ("Ζ", 'Z'), ("ℎ", 'h'), ("‐‑–−", '-'), ("＿", '_'), ("ⅰ", 'i'),
];

/// The replacement for a character: itself, another one, or nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fold {
    Same,
    To(char),
    Nothing,
}

/// The text in plain letters; `None` when it has only plain letters.
pub(super) fn folded(text: &str) -> Option<View> {
    if text.is_ascii() || text.chars().all(|letter| fold(letter) == Fold::Same) {
        return None;
    }
    let next = |text: &str| text.bytes().position(|byte| !byte.is_ascii());
    View::of(text, next, |rest, out| {
        let letter = rest.chars().next()?;
        match fold(letter) {
            Fold::Same => return None,
            Fold::To(plain) => out.push(plain),
            Fold::Nothing => {}
        }
        Some(letter.len_utf8())
    })
}

/// A name in plain letters.
pub(super) fn name(name: &str) -> Cow<'_, str> {
    folded(name).map_or(Cow::Borrowed(name), |view| Cow::Owned(view.text))
}

fn fold(letter: char) -> Fold {
    let code = u32::from(letter);
    if code < 0xAD || (0x3000..0xD800).contains(&code) && !(0xA730..=0xA731).contains(&code) {
        // ASCII, and Chinese, Japanese and Korean.
        return Fold::Same;
    }
    let from = |base: u8, n: u32| u8::try_from(n).map_or(Fold::Same, |n| Fold::To(char::from(base + n)));
    let of_table = |table: &str, n: u32| match usize::try_from(n).ok().and_then(|n| table.as_bytes().get(n)) {
        Some(b'.') | None => fold_look_alike(letter),
        Some(base) => Fold::To(char::from(*base)),
    };
    match code {
        0xAD | 0x34F | 0x300..=0x36F | 0x61C | 0x180B..=0x180E | 0x200B..=0x200F | 0x202A..=0x202E => {
            Fold::Nothing
        }
        0x2060..=0x206F | 0xFE00..=0xFE0F | 0xFEFF | 0xE0000..=0xE01EF => Fold::Nothing,
        0xC0..=0x24F => of_table(LATIN, code - 0xC0),
        0x1E00..=0x1EFF => of_table(LATIN_MORE, code - 0x1E00),
        0x24B6..=0x24CF => from(b'A', code - 0x24B6),
        0x24D0..=0x24E9 => from(b'a', code - 0x24D0),
        0xFF10..=0xFF19 => from(b'0', code - 0xFF10),
        0xFF21..=0xFF3A => from(b'A', code - 0xFF21),
        0xFF41..=0xFF5A => from(b'a', code - 0xFF41),
        0x1D400..=0x1D6A3 => match (code - 0x1D400) % 52 {
            n @ 0..26 => from(b'A', n),
            n => from(b'a', n - 26),
        },
        0x1D7CE..=0x1D7FF => from(b'0', (code - 0x1D7CE) % 10),
        _ => fold_look_alike(letter),
    }
}

fn fold_look_alike(letter: char) -> Fold {
    // A few hundred byte comparisons, so only for letters of these alphabets.
    if !matches!(u32::from(letter), 0x100..=0x58F | 0x1D00..=0x1D7F | 0x2010..=0x2212 | 0x2C80..=0x2D6F | 0xA730..=0xA731 | 0xFF3F)
    {
        return Fold::Same;
    }
    TABLE.get(&letter).map_or(Fold::Same, |plain| Fold::To(*plain))
}

static TABLE: std::sync::LazyLock<std::collections::HashMap<char, char>> = std::sync::LazyLock::new(|| {
    ALIKE.iter().flat_map(|(letters, plain)| letters.chars().map(|letter| (letter, *plain))).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_a_letter_for_each_code() {
        assert_eq!((LATIN.len(), LATIN_MORE.len()), (0x250 - 0xC0, 0x100));
        assert_eq!(name("Ñandú ẩ ł ø đ"), "Nandu a l o d");
        assert_eq!(name("ｐａｓｓ＿１"), "pass_1");
        assert_eq!(name("p\u{200b}аss𝐰𝗈rd"), "password");
        assert_eq!(name("密码"), "密码");
    }
}

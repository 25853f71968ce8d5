//! Reads the choice from a response.

/// Characters around a letter that are only markup.
const MARKUP: &[char] = &['*', '_', '`', '"', '\'', '(', ')', '[', ']', '.', ':', '#'];

/// The position of the choice that a response names; `None` if it names none, or several. It may be a letter (`B`, `(b)`,
/// `B) 61.20`), a sentence (`The answer is B.`) or a choice's text.
pub(super) fn read_choice(reply: &str, choices: &[String]) -> Option<usize> {
    let text = reply.trim();
    let whole = bare(text);
    if let Some(at) = letter(whole, choices.len()) {
        return Some(at);
    }
    if let Some(at) = choices.iter().position(|choice| choice.eq_ignore_ascii_case(whole)) {
        return Some(at);
    }
    let mut named: Vec<usize> = stated(text, choices.len());
    named.sort_unstable();
    named.dedup();
    match named[..] {
        [at] => Some(at),
        [] => text.lines().next().and_then(|line| leading(line, choices.len())),
        _ => None,
    }
}

fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| MARKUP.contains(&c) || c.is_whitespace())
}

/// The position of a lone letter.
fn letter(text: &str, choices: usize) -> Option<usize> {
    let mut characters = text.chars();
    let (first, None) = (characters.next()?, characters.next()) else { return None };
    let at = usize::try_from(u32::from(first.to_ascii_uppercase()).checked_sub(u32::from('A'))?).ok()?;
    (first.is_ascii_alphabetic() && at < choices).then_some(at)
}

/// The letter that a line starts with, followed by a mark that sets it off: `B) 61.20` and `B: lower`, but not
/// `A company`.
fn leading(line: &str, choices: usize) -> Option<usize> {
    let line = line.trim_start_matches(|c: char| MARKUP.contains(&c) || c.is_whitespace());
    let end = line.find([')', '.', ':', '*', ',', '-', '–'])?;
    letter(line[..end].trim(), choices)
}

/// The letters that follow the words `answer` or `choice`, as in `Answer: B` and `my choice is (C)`.
fn stated(text: &str, choices: usize) -> Vec<usize> {
    let words: Vec<&str> = text.split_whitespace().map(bare).collect();
    let is_link = |word: &str| ["is", "would", "be", ""].contains(&word.to_ascii_lowercase().as_str());
    let keyword = |word: &str| ["answer", "choice", "option"].contains(&word.to_ascii_lowercase().as_str());
    let after = |at: usize| words[at + 1..].iter().find(|word| !is_link(word)).copied();
    let named = (0..words.len()).filter(|at| keyword(words[*at])).filter_map(after);
    // A lower-case `a` here is an article.
    named.filter(|word| *word != "a").filter_map(|word| letter(word, choices)).collect()
}

#[cfg(test)]
mod tests {
    use super::read_choice;

    // Goal: the usual forms of a choice are read; prose without one, and prose with several, are declined.
    #[test]
    fn choices_are_read_from_letters_sentences_and_texts() {
        let choices = ["12.10", "14.00", "61.20", "70.55"].map(str::to_owned);
        let read = |text: &str| read_choice(text, &choices);
        for text in [
            "C",
            "c",
            " C. ",
            "(C)",
            "**C**",
            "C) 61.20",
            "C: 61.20",
            "Answer: C",
            "The answer is **C**.",
            "I think my choice would be (C)",
            "61.20",
            "C.\nI remember it well.",
            "\"C\"",
        ] {
            assert_eq!(read(text), Some(2), "{text}");
        }
        for text in [
            "",
            "E",
            "I cannot answer that.",
            "A company like this rose.",
            "I do not know",
            "A or B",
            "42",
            "Answer: A. No, the answer is B.",
            "{\"answer\": 7}",
            "The answer is a guess",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}

//! Splits a debate into its turns. TradingAgents stores it as one text, to which every turn adds a line break, the
//! speaker's name and the argument, and the same for each speaker alone.

/// A speaker: the name in the text, and the text of its own turns.
pub(super) type Speaker<'a> = (&'static str, &'a str);

/// The maximum number of attempts. A text that needs more has been written to need them.
const MAX_ATTEMPTS: usize = 10_000;

/// The turns as (speaker, argument), in order. Speakers take turns in their order, from the first one on. `None`: the
/// whole is not what its parts give, so there is no telling where a turn ends.
pub(super) fn split<'a>(whole: &'a str, speakers: &[Speaker<'a>]) -> Option<Vec<(usize, &'a str)>> {
    let marks: Vec<String> = speakers.iter().map(|(name, _)| format!("\n{name}: ")).collect();
    let left: Vec<&str> = speakers.iter().map(|(_, own)| *own).collect();
    let mut turns = Vec::new();
    let mut attempts = 0;
    next(whole, 0, left, &marks, &mut turns, &mut attempts).then_some(turns)
}

/// Takes the turn of the speaker at `at`, and all that follow. An argument can quote another speaker's mark, so each
/// mark of the next speaker may be the end of this turn.
fn next<'a>(
    whole: &'a str,
    at: usize,
    left: Vec<&'a str>,
    marks: &[String],
    turns: &mut Vec<(usize, &'a str)>,
    attempts: &mut usize,
) -> bool {
    if whole.is_empty() {
        return left.iter().all(|own| own.is_empty());
    }
    let mark = marks[at].as_str();
    if !whole.starts_with(mark) {
        return false;
    }
    let follower = (at + 1) % marks.len();
    let ends = whole[mark.len()..].match_indices(&marks[follower]).map(|(end, _)| end + mark.len());
    for end in ends.chain([whole.len()]) {
        *attempts += 1;
        if *attempts > MAX_ATTEMPTS {
            return false;
        }
        let Some(rest) = left[at].strip_prefix(&whole[..end]) else { continue };
        let mut after = left.clone();
        after[at] = rest;
        turns.push((at, &whole[mark.len()..end]));
        if next(&whole[end..], follower, after, marks, turns, attempts) {
            return true;
        }
        turns.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    // Goal: turns are split where they were joined, even if an argument quotes the other speaker's mark, and a text
    // that its parts do not give is not split at all.
    #[test]
    fn turns_are_split_only_where_they_were_joined() {
        let bull = "\nBull Analyst: Up.\nBull Analyst: As I said:\nBear Analyst: no. Still up.";
        let bear = "\nBear Analyst: Down.\nBear Analyst: No.";
        let whole = "\nBull Analyst: Up.\nBear Analyst: Down.\nBull Analyst: As I said:\nBear Analyst: no. Still up.\
                     \nBear Analyst: No.";
        let turns = split(whole, &[("Bull Analyst", bull), ("Bear Analyst", bear)]).expect("splits");
        let expected = [(0, "Up."), (1, "Down."), (0, "As I said:\nBear Analyst: no. Still up."), (1, "No.")];
        assert_eq!(turns, expected);
        assert_eq!(split(whole, &[("Bull Analyst", bull), ("Bear Analyst", "\nBear Analyst: Down.")]), None);
        assert_eq!(split("", &[("Bull Analyst", ""), ("Bear Analyst", "")]), Some(Vec::new()));
    }
}

//! Extracts a reply's text from the model's JSON while it is streaming.

/// The parser's state.
#[derive(Debug, Default)]
pub struct MessageExtractor {
    state: State,
    /// Input that is not decided yet.
    held: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Only white space so far.
    #[default]
    Start,
    /// Plain text: all of it is the message.
    Plain,
    /// JSON, before the message's value.
    Before,
    /// Inside the message's text.
    Inside,
    /// After the message.
    Over,
}

/// The key before the message's value.
const MESSAGE: &str = "\"message\"";

impl MessageExtractor {
    /// Adds the next chunk of the response and returns the text in it, which is often empty.
    pub fn push(&mut self, piece: &str) -> String {
        let mut words = String::new();
        self.held.push_str(piece);
        loop {
            let before = (self.state, self.held.len());
            self.step(&mut words);
            if (self.state, self.held.len()) == before {
                return words;
            }
        }
    }

    fn step(&mut self, words: &mut String) {
        match self.state {
            State::Start => {
                let held = self.held.trim_start();
                if held.is_empty() || "```json".starts_with(held) {
                    return;
                }
                let is_json = held.starts_with('{') || held.starts_with("```json");
                self.state = if is_json { State::Before } else { State::Plain };
            }
            State::Plain => words.push_str(&std::mem::take(&mut self.held)),
            State::Before => {
                let Some(at) = self.held.find(MESSAGE) else {
                    // The key itself may be split across chunks.
                    let keep = self.held.len().saturating_sub(MESSAGE.len());
                    let keep = (0..=keep).rev().find(|at| self.held.is_char_boundary(*at)).unwrap_or(0);
                    self.held.drain(..keep);
                    return;
                };
                let rest = &self.held[at + MESSAGE.len()..];
                let value = rest.trim_start().strip_prefix(':').map(str::trim_start);
                match value.and_then(|value| value.strip_prefix('"')) {
                    Some(inside) => {
                        self.held = inside.to_owned();
                        self.state = State::Inside;
                    }
                    None if value.is_some_and(|value| !value.is_empty()) => {
                        self.held = rest.to_owned();
                    }
                    None if !rest.trim_start().is_empty() && value.is_none() => self.held = rest.to_owned(),
                    None => {}
                }
            }
            State::Inside => self.text(words),
            State::Over => self.held.clear(),
        }
    }

    /// The text up to its closing quote, or to an incomplete escape.
    fn text(&mut self, words: &mut String) {
        let mut taken = 0;
        while let Some(c) = self.held[taken..].chars().next() {
            match c {
                '"' => {
                    self.state = State::Over;
                    break;
                }
                '\\' => {
                    let Some((escaped, length)) = escape(&self.held[taken..]) else { break };
                    words.extend(escaped);
                    taken += length;
                }
                c => {
                    words.push(c);
                    taken += c.len_utf8();
                }
            }
        }
        self.held.drain(..taken);
    }
}

/// The escape at the start of the text, with its length; `None` if it is incomplete. An invalid escape yields no
/// character.
fn escape(text: &str) -> Option<(Option<char>, usize)> {
    let c = text.chars().nth(1)?;
    Some(match c {
        'n' => (Some('\n'), 2),
        't' => (Some('\t'), 2),
        'r' => (Some('\r'), 2),
        'b' | 'f' => (None, 2),
        'u' => {
            let first = hex(text.get(2..6)?);
            if !first.is_some_and(|unit| (0xD800..0xDC00).contains(&unit)) {
                return Some((first.and_then(char::from_u32), 6));
            }
            // The second surrogate follows, or has not arrived yet.
            if text.get(6..8).is_some_and(|next| next != "\\u") {
                return Some((None, 6));
            }
            let second = hex(text.get(8..12)?)?;
            let pair =
                first.map(|high| 0x10000 + ((high - 0xD800) << 10) + (second.wrapping_sub(0xDC00) & 0x3FF));
            (pair.and_then(char::from_u32), 12)
        }
        other => (Some(other), 1 + other.len_utf8()),
    })
}

fn hex(digits: &str) -> Option<u32> {
    u32::from_str_radix(digits, 16).ok()
}

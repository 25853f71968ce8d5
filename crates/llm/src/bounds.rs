//! Bounds on a response, and JSON reading that respects them.
//!
//! Counting happens while bytes arrive and before anything is parsed. No size that a response claims reserves
//! memory.

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// Bytes of a response's body, whole or streamed.
pub const MAX_BODY_BYTES: usize = 4 << 20;
/// Bytes of an error response's body.
pub const MAX_ERROR_BYTES: usize = 64 << 10;
/// Bytes of one event of a stream.
pub const MAX_EVENT_BYTES: usize = 256 << 10;
/// Events of a stream.
pub const MAX_EVENTS: usize = 20_000;
/// Tool calls in a response; each index is below it.
pub const MAX_TOOL_CALLS: usize = 64;
/// Bytes of one tool call's arguments.
pub const MAX_ARGUMENT_BYTES: usize = 256 << 10;
/// Nesting levels of JSON.
pub const MAX_DEPTH: usize = 64;
/// Entries of any other list, such as the parts of a text.
pub const MAX_ENTRIES: usize = 4_096;
/// JSON values stored as a tree, in the arguments of all calls and in the provider state. A tree takes up to
/// a hundred times the memory of its text.
pub const MAX_VALUES: usize = 10_000;
/// JSON values of an answer that is passed on as it is. The vectors of embeddings and the probabilities of tokens are
/// many, but 4 MiB of small values would take a hundred times as much memory.
pub const MAX_ANSWER_VALUES: usize = 400_000;

/// A bound that a response exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// [`MAX_BODY_BYTES`].
    Body,
    /// [`MAX_ERROR_BYTES`].
    ErrorBody,
    /// [`MAX_EVENT_BYTES`].
    Event,
    /// [`MAX_EVENTS`].
    Events,
    /// [`MAX_TOOL_CALLS`].
    ToolCalls,
    /// [`MAX_TOOL_CALLS`], by an index.
    ToolCallIndex,
    /// [`MAX_ARGUMENT_BYTES`].
    Arguments,
    /// [`MAX_DEPTH`].
    Depth,
    /// [`MAX_ENTRIES`].
    Entries,
    /// [`MAX_VALUES`].
    Values,
    /// [`MAX_ANSWER_VALUES`].
    AnswerValues,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Body => "a body of more than 4 MiB",
            Self::ErrorBody => "an error of more than 64 KiB",
            Self::Event => "an event of more than 256 KiB",
            Self::Events => "more than 20000 events",
            Self::ToolCalls => "more than 64 tool calls",
            Self::ToolCallIndex => "a tool call with an index above 63",
            Self::Arguments => "a tool call with more than 256 KiB of arguments",
            Self::Depth => "JSON nested deeper than 64 levels",
            Self::Entries => "a list of more than 4096 entries",
            Self::Values => "more than 10000 JSON values in tool calls",
            Self::AnswerValues => "more than 400000 JSON values",
        })
    }
}

/// Upper bounds on the depth of a JSON text and the number of its values. Works on invalid JSON too, takes no
/// memory, and accepts text in chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Nesting levels.
    pub depth: usize,
    /// Number of values, not counting the first.
    pub values: usize,
    open: usize,
    in_string: bool,
    escaped: bool,
}

impl Shape {
    /// The shape of a whole text.
    #[must_use]
    pub fn of(json: &[u8]) -> Self {
        let mut shape = Self::default();
        shape.read(json);
        shape
    }

    /// Reads the next chunk.
    pub fn read(&mut self, json: &[u8]) {
        for byte in json {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => {
                    self.open += 1;
                    self.values += 1;
                    self.depth = self.depth.max(self.open);
                }
                b'}' | b']' => self.open = self.open.saturating_sub(1),
                b',' => self.values += 1,
                _ => {}
            }
        }
    }
}

/// Checks that the text is not nested too deeply.
///
/// # Errors
/// [`Bound::Depth`].
pub fn check_depth(json: &[u8]) -> Result<(), Bound> {
    // A text with few brackets, even in strings, is not nested deeply; counting them is cheaper than following strings.
    let brackets = json.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
    if brackets > MAX_DEPTH && Shape::of(json).depth > MAX_DEPTH { Err(Bound::Depth) } else { Ok(()) }
}

/// Counts the values that a response stores as trees.
#[derive(Debug, Default)]
pub(crate) struct Trees {
    values: usize,
}

impl Trees {
    /// Checks that this text may be parsed into a tree, and counts its values.
    pub(crate) fn admit(&mut self, json: &[u8]) -> Result<(), Bound> {
        let shape = Shape::of(json);
        self.values = self.values.saturating_add(shape.values);
        if shape.depth > MAX_DEPTH {
            Err(Bound::Depth)
        } else if self.values > MAX_VALUES {
            Err(Bound::Values)
        } else {
            Ok(())
        }
    }
}

/// The messages of serde errors for lists that are too long; [`exceeded`] recognizes them.
const TOO_MANY: [(&str, Bound); 2] =
    [("papertape:tool_calls", Bound::ToolCalls), ("papertape:entries", Bound::Entries)];

/// The bound that made parsing fail, if any.
pub(crate) fn exceeded(error: &serde_json::Error) -> Option<Bound> {
    let text = error.to_string();
    TOO_MANY.iter().find(|(mark, _)| text.starts_with(mark)).map(|(_, bound)| *bound)
}

/// A list of at most [`MAX_TOOL_CALLS`]; null gives `None`.
pub(crate) fn tool_calls<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    from.deserialize_any(List { most: MAX_TOOL_CALLS, mark: TOO_MANY[0].0, of: PhantomData })
}

/// A list of at most [`MAX_ENTRIES`]; null gives `None`.
pub(crate) fn entries<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    from.deserialize_any(List { most: MAX_ENTRIES, mark: TOO_MANY[1].0, of: PhantomData })
}

/// Like [`entries`], to tell a missing list from an empty one.
pub(crate) fn some_entries<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<Vec<T>>, D::Error> {
    entries(from).map(Some)
}

struct List<T> {
    most: usize,
    mark: &'static str,
    of: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E>(self) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(entry) = list.next_element()? {
            if all.len() == self.most {
                return Err(A::Error::custom(self.mark));
            }
            all.push(entry);
        }
        Ok(all)
    }
}

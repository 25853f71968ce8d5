//! What commands print: data to stdout, everything else to stderr. Nobody reading any more (`| head`)
//! is no failure of a command, and never a panic.

use super::progress;
use anyhow::{Context as _, Result};
use comfy_table::{
    Attribute, Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets,
};
use papertape_service::format::thousands;
pub(super) use papertape_service::format::{bytes, count};
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write};

/// A line to stderr, above the progress bars.
macro_rules! note {
    ($($text:tt)*) => { $crate::output::to_stderr(format_args!($($text)*)) };
}
pub(super) use note;

/// A line to stderr, as [`visible`].
pub(super) fn to_stderr(text: impl Display) {
    let text = visible(&text.to_string());
    progress::above_the_bars(|| {
        let _ = writeln!(io::stderr().lock(), "{text}");
    });
}

/// A text and a line end to stdout, as [`visible`].
pub(super) fn say(text: impl Display) -> Result<()> {
    as_it_is(&visible(&text.to_string()))
}

/// A value as JSON to stdout.
pub(super) fn json<T: Serialize + ?Sized>(value: &T) -> Result<()> {
    as_it_is(&serde_json::to_string_pretty(value)?)
}

fn as_it_is(text: &str) -> Result<()> {
    progress::above_the_bars(|| {
        let mut out = Stdout::open();
        writeln!(out, "{text}").and_then(|()| out.flush()).context("stdout cannot be written")
    })
}

/// What a table's head is set in: the only control sequences that a command prints itself.
const BOLD: [&str; 2] = ["\u{1b}[1m", "\u{1b}[0m"];

/// A text of models and pages must not steer a terminal: control characters, and those that turn the
/// direction of text, are shown as `\u{1b}`.
fn visible(text: &str) -> String {
    let steers = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || turns(c);
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(steers) {
        shown.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(own) = BOLD.iter().find(|own| rest.starts_with(**own)) {
            shown.push_str(own);
            rest = &rest[own.len()..];
        } else if let Some(c) = rest.chars().next() {
            shown.extend(c.escape_unicode());
            rest = &rest[c.len_utf8()..];
        }
    }
    shown.push_str(rest);
    shown
}

fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Stdout, for as long as somebody reads it.
pub(super) struct Stdout(io::BufWriter<io::Stdout>);

impl Stdout {
    pub(super) fn open() -> Self {
        Self(io::BufWriter::new(io::stdout()))
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unless_gone(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        unless_gone(self.0.flush(), ())
    }
}

fn unless_gone<T>(result: io::Result<T>, otherwise: T) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(otherwise),
        other => other,
    }
}

/// Texts are broken into lines no narrower than this.
const NARROWEST: u16 = 18;

/// A table without frames. A column's name that begins with `>` is of a column of numbers; one that
/// begins with `~` is of texts that may be broken where a terminal is too narrow.
pub(super) fn table<const N: usize>(columns: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let is_terminal = io::stdout().is_terminal();
    if is_terminal {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    }
    table.set_header(columns.iter().map(|name| {
        let cell = Cell::new(name.trim_start_matches(['>', '~']));
        if is_terminal { cell.add_attribute(Attribute::Bold) } else { cell }
    }));
    for (index, name) in columns.iter().enumerate() {
        if let Some(column) = table.column_mut(index) {
            column.set_padding((0, 2));
            if name.starts_with('>') {
                column.set_cell_alignment(CellAlignment::Right);
            }
            column.set_constraint(if name.starts_with('~') {
                ColumnConstraint::LowerBoundary(Width::Fixed(NARROWEST))
            } else {
                ColumnConstraint::ContentWidth
            });
        }
    }
    table
}

/// A table as text, without the spaces at its lines' ends.
pub(super) fn text_of(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// A fraction as percent: `0.0123` is `+1.23%`.
pub(super) fn percent(fraction: Option<f64>) -> String {
    fraction.map_or_else(|| "-".to_owned(), |fraction| format!("{:+.2}%", rounded(fraction * 100.0)))
}

/// A number with two decimals.
pub(super) fn two(value: Option<impl Into<f64>>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{:.2}", rounded(value.into())))
}

/// What two decimals leave of a number, which is never a negative zero.
fn rounded(value: f64) -> f64 {
    if value.abs() < 0.005 { 0.0 } else { value }
}

/// Money with thousands apart: `104,180.25`.
pub(super) fn money(value: impl Into<f64>) -> String {
    let value = value.into();
    let plain = format!("{:.2}", value.abs());
    let (whole, cents) = plain.split_once('.').unwrap_or((&plain, "00"));
    let sign =
        if value < 0.0 && plain.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) { "-" } else { "" };
    format!("{sign}{}.{cents}", thousands(whole))
}

/// Seconds for people: `4.2 s`, `3 min 5 s`, `2 h 10 min`.
pub(super) fn seconds(value: f64) -> String {
    let whole = value.round() as u64;
    match whole {
        0..10 => format!("{value:.1} s"),
        10..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// How wide stdout's terminal is; `None` where it is none.
pub(super) fn terminal_width() -> Option<usize> {
    if io::stdout().is_terminal() { Table::new().width().map(usize::from) } else { None }
}

/// How wide texts are set where stdout is no terminal.
pub(super) const NARROW: usize = 80;

/// How wide texts are set: the terminal's width, from 40 to 100.
pub(super) fn width() -> usize {
    terminal_width().unwrap_or(NARROW).clamp(40, 100)
}

/// Breaks a text into lines of at most `width` characters, each beginning with `indent`. Lines that are
/// there stay; a word longer than a line is broken.
pub(super) fn wrap(text: &str, width: usize, indent: &str) -> String {
    let room = width.saturating_sub(indent.chars().count()).max(20);
    let mut lines = Vec::new();
    for line in text.lines() {
        let lead: String = line.chars().take_while(|c| *c == ' ').take(room / 2).collect();
        let room = room - lead.len();
        let mut current = Vec::new();
        for word in line.split_whitespace() {
            let mut word: Vec<char> = word.chars().collect();
            if !current.is_empty() && current.len() + 1 + word.len() > room {
                lines.push(format!("{indent}{lead}{}", current.drain(..).collect::<String>()));
            }
            if !current.is_empty() {
                current.push(' ');
            }
            while current.is_empty() && word.len() > room {
                let rest = word.split_off(room);
                lines.push(format!("{indent}{lead}{}", word.iter().collect::<String>()));
                word = rest;
            }
            current.append(&mut word);
        }
        lines.push(format!("{indent}{lead}{}", current.iter().collect::<String>()).trim_end().to_owned());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_for_people() {
        let shown = [money(104_180.254), money(-0.001), money(-1234.5), money(999.0)];
        assert_eq!(shown, ["104,180.25", "0.00", "-1,234.50", "999.00"]);
        assert_eq!([percent(Some(0.0123)), percent(None)], ["+1.23%", "-"]);
        assert_eq!([seconds(4.21), seconds(185.0), seconds(7800.0)], ["4.2 s", "3 min 5 s", "2 h 10 min"]);
        assert_eq!([bytes(12), bytes(1536), bytes(5 << 40)], ["12 B", "1.5 KiB", "5.0 TiB"]);
    }

    #[test]
    fn texts_wrap_at_words_and_keep_their_lines() {
        let text = "one two three four five six\n\n  a list of many many words";
        let lines = "| one two three four\n| five six\n|\n|   a list of many\n|   many words";
        assert_eq!(wrap(text, 22, "| "), lines);
        assert_eq!(wrap("a 0123456789012345678901234", 22, "  "), "  a\n  01234567890123456789\n  01234");
    }

    /// Goal: no text of others steers a terminal, and what is text stays as it is.
    #[test]
    fn control_characters_are_shown() {
        let bold = "\u{1b}[1mname\u{1b}[0m\n\tIBM 收益 — é";
        assert_eq!(visible(bold), bold);
        let shown = visible("a\u{1b}[31mb\u{7}\r\u{202e}c\u{9b}2J\0");
        assert_eq!(shown, r"a\u{1b}[31mb\u{7}\u{d}\u{202e}c\u{9b}2J\u{0}");
    }
}

//! Output: data to stdout, everything else to stderr. A closed pipe (`| head`) is neither a failure nor a panic.

use super::{Outcome, terminal};
use anyhow::{Context as _, Result};
use comfy_table::{
    Attribute, Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets,
};
use papertape_service::format::thousands;
pub use papertape_service::format::{bytes, count, counted};
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

/// Prints a line to stderr, above the progress bars.
#[macro_export]
macro_rules! note {
    ($($text:tt)*) => { $crate::output::to_stderr(format_args!($($text)*)) };
}
pub use note;

/// Prints a line to stderr, with control characters escaped.
pub fn to_stderr(text: impl Display) {
    let text = escape_control(&text.to_string());
    terminal::above_bars(|| {
        let _ = writeln!(io::stderr().lock(), "{text}");
    });
}

/// Prints a line to stdout, with control characters escaped.
pub fn say(text: impl Display) -> Result<()> {
    to_stdout(&escape_control(&text.to_string()))
}

/// Prints a value to stdout as JSON.
pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<()> {
    to_stdout(&serde_json::to_string_pretty(value)?)
}

/// As [`json`], for a command that prints nothing else.
pub(super) fn only_json<T: Serialize + ?Sized>(value: &T) -> Outcome {
    json(value)?;
    Ok(ExitCode::SUCCESS)
}

fn to_stdout(text: &str) -> Result<()> {
    terminal::above_bars(|| {
        let mut out = Stdout::open();
        writeln!(out, "{text}").and_then(|()| out.flush()).context("cannot write to stdout")
    })
}

/// The style of table headings: the only control sequences that commands print themselves.
const BOLD: [&str; 2] = ["\u{1b}[1m", "\u{1b}[0m"];

/// Text from models and web pages must not control the terminal: control characters and bidirectional overrides are
/// escaped as `\u{1b}`.
fn escape_control(text: &str) -> String {
    let is_unsafe = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || is_bidi_override(c);
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_unsafe) {
        escaped.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(style) = BOLD.iter().find(|style| rest.starts_with(**style)) {
            escaped.push_str(style);
            rest = &rest[style.len()..];
        } else if let Some(c) = rest.chars().next() {
            escaped.extend(c.escape_unicode());
            rest = &rest[c.len_utf8()..];
        }
    }
    escaped.push_str(rest);
    escaped
}

fn is_bidi_override(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Stdout that discards output once the reader has closed the pipe.
pub(super) struct Stdout(io::BufWriter<io::Stdout>);

impl Stdout {
    pub(super) fn open() -> Self {
        Self(io::BufWriter::new(io::stdout()))
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        ignore_broken_pipe(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        ignore_broken_pipe(self.0.flush(), ())
    }
}

fn ignore_broken_pipe<T>(result: io::Result<T>, default: T) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(default),
        other => other,
    }
}

/// The minimum width of a column whose text wraps.
const MIN_TEXT_WIDTH: u16 = 18;

/// A table without borders. A heading that starts with `>` aligns its column right; one that starts with `~` lets its
/// column wrap in a narrow terminal.
pub fn table<const N: usize>(columns: [&str; N]) -> Table {
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
                ColumnConstraint::LowerBoundary(Width::Fixed(MIN_TEXT_WIDTH))
            } else {
                ColumnConstraint::ContentWidth
            });
        }
    }
    table
}

/// A table as text, without trailing spaces.
pub fn text_of(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// A table with a line per row if that fits `width`, else transposed: a column per row, in as many blocks as needed.
pub(super) fn layout<const N: usize>(columns: [&str; N], rows: &[[String; N]], width: usize) -> String {
    let names = columns.map(|name| name.trim_start_matches(['>', '~']));
    let widest =
        |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text.chars().count() + 2).max().unwrap_or(0);
    let row_width: usize =
        (0..N).map(|at| widest(&mut rows.iter().map(|row| row[at].as_str()).chain([names[at]]))).sum();
    // The last column has no padding.
    if row_width <= width + 2 {
        let mut table = table(columns);
        table.add_rows(rows);
        return text_of(&table);
    }
    let name_width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut blocks: Vec<(usize, Vec<String>)> = Vec::new();
    for row in rows {
        let cell_width = widest(&mut row.iter().map(String::as_str));
        let fits = blocks.last().is_some_and(|(used, _)| used + cell_width <= width);
        if !fits {
            blocks.push((name_width, names.iter().map(|name| format!("{name:<name_width$}")).collect()));
        }
        let Some((used, lines)) = blocks.last_mut() else { continue };
        *used += cell_width;
        for (line, cell) in lines.iter_mut().zip(row) {
            line.push_str(&format!("{cell:>cell_width$}"));
        }
    }
    blocks.into_iter().map(|(_, lines)| lines.join("\n")).collect::<Vec<_>>().join("\n\n")
}

/// A fraction as percent: `0.0123` is `+1.23%`.
pub fn percent(fraction: Option<f64>) -> String {
    fraction.map_or_else(|| "-".to_owned(), |fraction| format!("{:+.2}%", rounded(fraction * 100.0)))
}

/// A difference of two fractions, in percentage points.
pub(super) fn points(difference: Option<f64>) -> String {
    difference.map_or_else(|| "-".to_owned(), |points| format!("{:+.2} pp", rounded(points * 100.0)))
}

pub(super) fn two_decimals(value: Option<impl Into<f64>>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{:.2}", rounded(value.into())))
}

/// Avoids printing a negative zero with two decimals.
fn rounded(value: f64) -> f64 {
    if value.abs() < 0.005 { 0.0 } else { value }
}

/// Money with thousands separators: `104,180.25`.
pub fn money(value: impl Into<f64>) -> String {
    let value = value.into();
    let plain = format!("{:.2}", value.abs());
    let (whole, cents) = plain.split_once('.').unwrap_or((&plain, "00"));
    let sign =
        if value < 0.0 && plain.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) { "-" } else { "" };
    format!("{sign}{}.{cents}", thousands(whole))
}

/// A duration: `4.2 s`, `3 min 5 s`, `2 h 10 min`.
pub(super) fn seconds(value: f64) -> String {
    let whole = value.round() as u64;
    match whole {
        0..10 => format!("{value:.1} s"),
        10..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// The width of stdout's terminal; `None` if stdout is not a terminal.
pub(super) fn terminal_width() -> Option<usize> {
    if io::stdout().is_terminal() { Table::new().width().map(usize::from) } else { None }
}

/// The width of text if stdout is not a terminal.
pub(super) const DEFAULT_WIDTH: usize = 80;

/// The width of text: the terminal's, from 40 to 100.
pub(super) fn width() -> usize {
    terminal_width().unwrap_or(DEFAULT_WIDTH).clamp(40, 100)
}

/// Wraps each line of a text at `width` columns, indented by `indent` and its own leading spaces. Words that are longer
/// than a line are split.
pub(super) fn wrap(text: &str, width: usize, indent: &str) -> String {
    let width = width.max(display_width(indent) + MIN_WRAP_WIDTH);
    let wrapped = text.lines().map(|line| {
        let content = line.trim_start_matches(' ');
        let leading = (line.len() - content.len()).min(MIN_WRAP_WIDTH / 2);
        let indent = format!("{indent}{}", " ".repeat(leading));
        // Only at spaces: a date or an option that is broken at a hyphen cannot be copied.
        let options = Options::new(width)
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation)
            .initial_indent(&indent)
            .subsequent_indent(&indent);
        // An empty line is only its indent.
        textwrap::fill(content, options).trim_end().to_owned()
    });
    wrapped.collect::<Vec<_>>().join("\n")
}

/// The minimum width of wrapped text without its indent.
const MIN_WRAP_WIDTH: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: numbers are formatted for people.
    #[test]
    fn numbers_are_readable() {
        let amounts = [money(104_180.254), money(-0.001), money(-1234.5), money(999.0)];
        assert_eq!(amounts, ["104,180.25", "0.00", "-1,234.50", "999.00"]);
        assert_eq!([percent(Some(0.0123)), percent(None)], ["+1.23%", "-"]);
        assert_eq!([seconds(4.21), seconds(185.0), seconds(7800.0)], ["4.2 s", "3 min 5 s", "2 h 10 min"]);
        assert_eq!([bytes(12), bytes(1536), bytes(5 << 40)], ["12 B", "1.5 KiB", "5.0 TiB"]);
    }

    /// Goal: text wraps at words, keeps its own lines and indents, and counts wide characters twice.
    #[test]
    fn text_wraps_at_words() {
        let text = "one two three four five six\n\n  a list of many many words";
        let lines = "| one two three four\n| five six\n|\n|   a list of many\n|   many words";
        assert_eq!(wrap(text, 22, "| "), lines);
        assert_eq!(wrap("a 0123456789012345678901234", 22, "  "), "  a\n  01234567890123456789\n  01234");
        assert_eq!(wrap("一二三四五六七八九十一二", 20, ""), "一二三四五六七八九十\n一二");
        assert_eq!(wrap("the last day is 2012-10-31", 21, ""), "the last day is\n2012-10-31");
    }

    /// Goal: untrusted text cannot control the terminal, and other text is unchanged.
    #[test]
    fn control_characters_are_escaped() {
        let bold = "\u{1b}[1mname\u{1b}[0m\n\tIBM 收益 — é";
        assert_eq!(escape_control(bold), bold);
        let shown = escape_control("a\u{1b}[31mb\u{7}\r\u{202e}c\u{9b}2J\0");
        assert_eq!(shown, r"a\u{1b}[31mb\u{7}\u{d}\u{202e}c\u{9b}2J\u{0}");
    }

    /// Goal: however many agents there are and however long their names, no line is wider than the given width, and no
    /// value is lost.
    #[test]
    fn tables_fit_their_width() {
        const COLUMNS: [&str; 12] = [
            "agent",
            "~model",
            ">return",
            ">annualized",
            ">Sharpe",
            ">max drawdown",
            ">vs buy & hold",
            ">trades",
            ">rejected",
            ">degraded",
            ">failed days",
            ">model cost",
        ];
        for (agents, name) in [(1, 64), (2, 17), (3, 20), (5, 30), (40, 12)] {
            let rows: Vec<[String; COLUMNS.len()]> = (0..agents)
                .map(|agent| {
                    std::array::from_fn(|at| match at {
                        0 => format!("{agent:a>name$}"),
                        1 => "rules, not an LLM".to_owned(),
                        _ => format!("+{agent}{at}.25%"),
                    })
                })
                .collect();
            for width in [80, 100, 200] {
                let text = layout(COLUMNS, &rows, width);
                let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
                assert!(widest <= width, "{agents} agents, {widest} of {width}:\n{text}");
                assert!(rows.iter().flatten().all(|cell| text.contains(cell.as_str())), "{text}");
                assert!(COLUMNS.iter().all(|name| text.contains(name.trim_start_matches(['>', '~']))));
            }
        }
    }
}

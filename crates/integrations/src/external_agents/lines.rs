//! The lines of an agent's standard output, up to a size.

use papertape_core::external::MAX_MESSAGE_BYTES;
use std::io;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line that is not blank, without its end.
    Message(Vec<u8>),
    /// The beginning of a line that is too large. Nothing after it can be read.
    TooLarge(Vec<u8>),
}

/// Reads lines.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader: BufReader::new(reader), line: Vec::new() }
    }

    /// The next line; `None` at the end. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                let rest = std::mem::take(&mut self.line);
                return Ok((!is_blank(&rest)).then_some(Line::Message(rest)));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            let consumed = piece.len() + usize::from(end.is_some());
            self.line.extend_from_slice(piece);
            self.reader.consume(consumed);
            if self.line.len() > MAX_MESSAGE_BYTES {
                return Ok(Some(Line::TooLarge(std::mem::take(&mut self.line))));
            }
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                if !is_blank(&line) {
                    return Ok(Some(Line::Message(line)));
                }
            }
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: lines arrive whole whatever pieces they come in, blank ones are skipped, and the last one needs no end.
    #[tokio::test]
    async fn lines_are_read() {
        let mut lines = Lines::new(&b"one\r\n\n  \ntwo\nthree"[..]);
        for line in ["one\r", "two", "three"] {
            assert_eq!(lines.next().await.expect("reads"), Some(Line::Message(line.as_bytes().to_vec())));
        }
        assert_eq!(lines.next().await.expect("reads"), None);
    }

    /// Goal: a line of exactly the limit is read, and a larger one is not buffered further.
    #[tokio::test]
    async fn lines_are_bounded() {
        let mut text = vec![b'x'; MAX_MESSAGE_BYTES];
        text.push(b'\n');
        let mut lines = Lines::new(&text[..]);
        assert!(
            matches!(lines.next().await, Ok(Some(Line::Message(line))) if line.len() == MAX_MESSAGE_BYTES)
        );
        let endless = tokio::io::repeat(b'x');
        let Ok(Some(Line::TooLarge(line))) = Lines::new(endless).next().await else {
            panic!("it is too large")
        };
        assert!(line.len() < MAX_MESSAGE_BYTES + 64 * 1024, "{}", line.len());
    }
}

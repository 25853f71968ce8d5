//! Splits a stream into its events, following the HTML standard's "Server-sent events", within bounds.

use super::WireError;
use crate::bounds::{Bound, MAX_BODY_BYTES, MAX_EVENT_BYTES, MAX_EVENTS};

/// One event.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Its `event:` line; empty when there is none.
    pub name: &'a str,
    /// Its `data:` lines.
    pub data: &'a str,
}

/// Whether a stream continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// More events are expected.
    Continue,
    /// That was its end mark.
    Done,
}

/// The bytes of a stream that do not form a complete event yet.
#[derive(Debug, Default)]
pub struct Splitter {
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// Bytes of all lines of the current event.
    event_bytes: usize,
    body_bytes: usize,
    events: usize,
    after_cr: bool,
    begun: bool,
}

impl Splitter {
    /// Takes the next bytes, split anywhere, and passes on the events that they complete, until one of them
    /// is the end.
    ///
    /// # Errors
    /// A bound, or an error of `take`.
    pub fn push(
        &mut self,
        mut bytes: &[u8],
        take: &mut dyn FnMut(Event<'_>) -> Result<Flow, WireError>,
    ) -> Result<Flow, WireError> {
        self.body_bytes = self.body_bytes.saturating_add(bytes.len());
        if self.body_bytes > MAX_BODY_BYTES {
            return Err(Bound::Body.into());
        }
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            self.event_bytes += piece.len();
            if self.event_bytes > MAX_EVENT_BYTES {
                return Err(Bound::Event.into());
            }
            let Some(end) = end else {
                self.line.extend_from_slice(piece);
                return Ok(Flow::Continue);
            };
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            // Most lines arrive whole and are read where they are.
            let flow = if self.line.is_empty() {
                self.end_line(piece, take)?
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(piece);
                let flow = self.end_line(&line, take)?;
                line.clear();
                self.line = line;
                flow
            };
            if flow == Flow::Done {
                return Ok(flow);
            }
        }
        Ok(Flow::Continue)
    }

    fn end_line(
        &mut self,
        mut line: &[u8],
        take: &mut dyn FnMut(Event<'_>) -> Result<Flow, WireError>,
    ) -> Result<Flow, WireError> {
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event(take);
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            // Comments, event IDs and reconnection times, which are not used here.
            _ => {}
        }
        Ok(Flow::Continue)
    }

    fn end_event(
        &mut self,
        take: &mut dyn FnMut(Event<'_>) -> Result<Flow, WireError>,
    ) -> Result<Flow, WireError> {
        self.event_bytes = 0;
        let flow = if std::mem::take(&mut self.has_data) {
            self.events += 1;
            if self.events > MAX_EVENTS {
                return Err(Bound::Events.into());
            }
            let text = |bytes| std::str::from_utf8(bytes).map_err(|_| WireError::Unreadable);
            take(Event { name: text(&self.name)?, data: text(&self.data)? })?
        } else {
            Flow::Continue
        };
        self.name.clear();
        self.data.clear();
        Ok(flow)
    }
}

//! Waits for the answer of a call, and sends it whole or as a stream.

use super::client::{FromSession, Waiting};
use super::error::DoorError;
use super::sse::Writer;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use futures::stream::{Stream, unfold};
use std::convert::Infallible;

/// The recorded body.
pub(super) async fn whole(mut waiting: Waiting) -> Result<Response, DoorError> {
    loop {
        match waiting.next().await {
            Some(FromSession::Answer(Ok(reply))) => return Ok(Json(reply.body).into_response()),
            Some(FromSession::Answer(Err(failure))) => return Err(DoorError::from_failure(&failure)),
            Some(FromSession::Words(_) | FromSession::Restarted) => {}
            None => return Err(DoorError::stopped()),
        }
    }
}

/// A stream. It begins with the first words or with the answer, so that a call that fails before has its status.
pub(super) async fn streamed(mut waiting: Waiting, writer: Writer) -> Result<Response, DoorError> {
    let mut stream = AnswerStream { writer, sent: String::new(), matched: 0, differs: false };
    let (first, is_done) = loop {
        match waiting.next().await {
            Some(FromSession::Answer(Err(failure))) => return Err(DoorError::from_failure(&failure)),
            None => return Err(DoorError::stopped()),
            Some(message) => match stream.write(Some(message)) {
                (text, is_done) if is_done || !text.is_empty() => break (text, is_done),
                _ => {}
            },
        }
    };
    let events = events((waiting, stream), first, is_done);
    let mut response = Body::from_stream(events).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

fn events(
    state: (Waiting, AnswerStream),
    first: String,
    is_done: bool,
) -> impl Stream<Item = Result<Bytes, Infallible>> {
    unfold((state, Some(first), is_done), async |((mut waiting, mut stream), first, is_done)| {
        if let Some(first) = first {
            return Some((Ok(Bytes::from(first)), ((waiting, stream), None, is_done)));
        }
        if is_done {
            return None;
        }
        loop {
            let (text, is_done) = stream.write(waiting.next().await);
            if is_done || !text.is_empty() {
                return Some((Ok(Bytes::from(text)), ((waiting, stream), None, is_done)));
            }
        }
    })
}

/// A stream as far as it is written.
struct AnswerStream {
    writer: Writer,
    /// The words sent so far.
    sent: String,
    /// How much of them the current attempt has repeated.
    matched: usize,
    /// The current attempt says something else than the words sent.
    differs: bool,
}

impl AnswerStream {
    /// What to send next, and whether it is the end.
    fn write(&mut self, message: Option<FromSession>) -> (String, bool) {
        match message {
            Some(FromSession::Words(words)) => {
                let new = self.take(&words).to_owned();
                (if new.is_empty() { new } else { self.writer.words(&new) }, false)
            }
            Some(FromSession::Restarted) => {
                self.matched = 0;
                self.differs = false;
                (String::new(), false)
            }
            Some(FromSession::Answer(Ok(reply))) => {
                let text = self.writer.end(&reply.body, &self.sent);
                (text.unwrap_or_else(|| self.writer.failed(&DoorError::begun_differently())), true)
            }
            Some(FromSession::Answer(Err(failure))) => {
                (self.writer.failed(&DoorError::from_failure(&failure)), true)
            }
            None => (self.writer.failed(&DoorError::stopped()), true),
        }
    }

    /// The part of these words that was not sent yet.
    fn take<'w>(&mut self, words: &'w str) -> &'w str {
        let known = self.sent.get(self.matched..).unwrap_or_default();
        if self.differs {
            return "";
        }
        if known.starts_with(words) {
            self.matched += words.len();
            return "";
        }
        let Some(new) = words.strip_prefix(known) else {
            self.differs = true;
            return "";
        };
        self.sent.push_str(new);
        self.matched = self.sent.len();
        new
    }
}

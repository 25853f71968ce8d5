//! A reply's text while it is written, for display: without the JSON around it, and redacted with a hold-back.

use crate::sync::lock;
use papertape_assistant::stream_text::MessageExtractor;
use papertape_core::id::JobId;
use papertape_core::message::ModelRequest;
use papertape_core::ports::{AttemptFailure, ModelClient, ModelResponse};
use papertape_redact::{Redactor, StreamRedactor};
use std::sync::{Mutex, PoisonError};

/// Receives the text of replies while they are written. Delivery is best effort; the message stored at the end is
/// authoritative.
pub trait DeltaListener: Send + Sync {
    /// Receives more text of a job's reply, redacted.
    fn on_delta(&self, job: &JobId, text: &str);
}

/// Calls a model, and reports the text of its reply while it is written.
pub(crate) async fn call(
    models: &dyn ModelClient,
    request: &ModelRequest,
    redactor: &Redactor,
    (listener, job): (&dyn DeltaListener, &JobId),
) -> Result<ModelResponse, AttemptFailure> {
    let text = Mutex::new((MessageExtractor::default(), redactor.stream()));
    let report = |text: &str| {
        if !text.is_empty() {
            listener.on_delta(job, text);
        }
    };
    let on_chunk = |chunk: &str| {
        let (extractor, redactor): &mut (MessageExtractor, StreamRedactor) = &mut lock(&text);
        let more = extractor.push(chunk);
        if !more.is_empty() {
            report(&redactor.push(&more));
        }
    };
    let response = models.call(request, Some(&on_chunk)).await;
    let (_, redactor) = text.into_inner().unwrap_or_else(PoisonError::into_inner);
    report(&redactor.finish());
    response
}

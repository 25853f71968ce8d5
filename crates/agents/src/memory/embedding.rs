//! Embeddings of texts by a sentence model. Each request is an external step, whichever model it uses: a
//! replay needs no model, and gets the same numbers on any machine.

use super::lessons::{Archive, Embedding, Lesson};
use super::round_summary::cut;
use papertape_core::message::ModelName;
use papertape_core::ports::ExternalCall;
use papertape_core::record::EmbeddingRow;
use papertape_core::tape::{CallOptions, Ctx, SessionStop};
use papertape_embed::vector;
use serde_json::json;

/// The server name for calling sentence models as tools. No configured server can have it.
pub const EMBEDDINGS: &str = "$embeddings";

/// Texts per request.
const BATCH: usize = 32;
/// Maximum characters of a failure reason.
const REASON_CHARS: usize = 240;

/// The texts' unit vectors, or why they are missing.
///
/// # Errors
/// A stop.
pub(super) async fn vectors(
    ctx: &mut Ctx,
    model: &ModelName,
    options: CallOptions,
    texts: &[String],
) -> Result<Result<Vec<Vec<f32>>, String>, SessionStop> {
    let call = ExternalCall {
        server: EMBEDDINGS.to_owned(),
        tool: model.to_string(),
        arguments: json!({ "texts": texts }),
    };
    // The call has no side effects, so it may be repeated.
    Ok(match ctx.external(&call, true, options, None).await? {
        Ok(reply) if reply.is_error => Err(cut(&reply.text, REASON_CHARS)),
        Ok(reply) => vector::from_json(&reply.text, texts.len()).map(|mut vectors| {
            // A provider may return vectors of any length; a vector without a direction stays close to zero.
            for vector in &mut vectors {
                let _ = vector::normalize(vector);
            }
            vectors
        }),
        Err(failure) => Err(failure.to_string()),
    })
}

/// Embeds the lessons that have no vector of the model, and returns the rows for this job's own ones. Ends at
/// the first request that fails.
///
/// # Errors
/// A stop.
pub(super) async fn embed(
    ctx: &mut Ctx,
    model: &ModelName,
    options: CallOptions,
    archive: &mut Archive,
) -> Result<Vec<EmbeddingRow>, SessionStop> {
    let lacks = |lesson: &Lesson| lesson.meaning.as_ref().is_none_or(|meaning| meaning.model != *model);
    let mut rows = Vec::new();
    loop {
        let texts: Vec<String> =
            archive.iter().filter(|lesson| lacks(lesson)).take(BATCH).map(Lesson::text).collect();
        if texts.is_empty() {
            return Ok(rows);
        }
        let made = match vectors(ctx, model, options, &texts).await? {
            Ok(made) => made,
            Err(why) => {
                tracing::warn!(%model, why, "lessons could not be embedded");
                return Ok(rows);
            }
        };
        for (lesson, numbers) in archive.change(lacks).zip(&made) {
            lesson.meaning = Some(Embedding { model: model.clone(), vector: vector::to_base64(numbers) });
            if lesson.origin.job.is_none() {
                rows.push(EmbeddingRow {
                    trade_id: lesson.trade_id,
                    model: model.to_string(),
                    vector: vector::to_bytes(numbers),
                });
            }
        }
    }
}

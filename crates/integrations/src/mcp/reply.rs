//! A tool's response as text. Nothing is truncated: a response that is too large is an error.

use super::bounded::EXCEEDED;
use papertape_core::json;
use papertape_core::ports::ExternalReply;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// The maximum size of a response, in bytes of text.
const MAX_BYTES: usize = 1 << 20;

/// One text per line; structured content as JSON if there is no text; non-text content is named only.
pub(super) fn reply(result: CallToolResult) -> ExternalReply {
    let has_text = result.content.iter().any(is_text);
    let structured = result.structured_content.filter(|_| !has_text).map(|value| json::canonical(&value));
    let parts: Vec<String> = structured.into_iter().chain(result.content.into_iter().map(text)).collect();
    ExternalReply { text: parts.join("\n"), is_error: result.is_error == Some(true) }
}

/// The reply, unless it is too large.
pub(super) fn bounded(reply: ExternalReply) -> Result<ExternalReply, String> {
    match reply.text.len() {
        bytes if bytes > MAX_BYTES => {
            Err(format!("{EXCEEDED}{bytes} bytes of text in an answer, which may have {MAX_BYTES}"))
        }
        _ => Ok(reply),
    }
}

fn is_text(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::Text(_) => true,
        ContentBlock::Resource(held) => {
            matches!(held.resource, ResourceContents::TextResourceContents { .. })
        }
        _ => false,
    }
}

fn text(block: ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text,
        ContentBlock::Image(image) => named("image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => named("audio", &audio.mime_type, &audio.data),
        ContentBlock::Resource(held) => match held.resource {
            ResourceContents::TextResourceContents { text, .. } => text,
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                named("resource", &format!("{uri} {}", mime_type.as_deref().unwrap_or("of no type")), &blob)
            }
            _ => "[resource]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[link {} {}]", link.name, link.uri),
        _ => "[content of an unknown kind]".to_owned(),
    }
}

fn named(kind: &str, what: &str, base64: &str) -> String {
    let padding = base64.bytes().rev().take_while(|byte| *byte == b'=').count();
    let bytes = (base64.len() - padding) * 3 / 4;
    format!("[{kind} {what}, {bytes} bytes]")
}

//! Writes the tape of a job: every link of its sessions' chains, and the texts that they reference.

use super::archive::ArchiveWriter;
use super::document::{LinkLine, SessionLine, TapeForm, TapeLine, TextLine};
use super::parts::{LINES, line};
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::id::{ContentHash, JobId};
use papertape_core::json;
use papertape_core::ports::RecordStore as _;
use papertape_core::record::DerivedRow;
use papertape_core::record::chain::{anchor, detached_anchor, follow};
use papertape_core::tape::{inline, linked_documents, references};
use papertape_store::{ChainLink, LinkKind, SessionChain};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The number of texts in memory at a time.
const GROUP: usize = 64;

/// Writes `tape.jsonl` and, in the full form, `texts.jsonl`.
pub(super) async fn write(
    app: &App,
    job: &JobId,
    form: TapeForm,
    archive: &mut ArchiveWriter,
    folder: &str,
) -> Result<(), ServiceError> {
    let mut texts = BTreeSet::new();
    let mut out = archive.open(format!("{folder}/tape.jsonl"), LINES);
    for session in app.store.job_sessions(job).await? {
        let Some(chain) = app.store.session_chain(session).await? else { continue };
        for one in session_lines(job, chain, form, &mut texts) {
            line(&mut out, &one)?;
        }
    }
    out.finish()?;
    if form == TapeForm::Full {
        write_texts(app, texts, archive, folder).await?;
    }
    Ok(())
}

fn session_lines(
    job: &JobId,
    chain: SessionChain,
    form: TapeForm,
    texts: &mut BTreeSet<ContentHash>,
) -> Vec<TapeLine> {
    let (agent, date) = (&chain.agent, chain.date);
    let mut heads = [anchor(job, agent, date), detached_anchor(job, agent, date)];
    let mut lines = vec![TapeLine::Session(SessionLine {
        agent: agent.clone(),
        date,
        head: chain.head.0,
        links: chain.head.1,
        summaries_head: chain.summaries.0,
        summaries_links: chain.summaries.1,
    })];
    for link in chain.links {
        let head = &mut heads[usize::from(link.is_summary)];
        *head = follow(*head, &link.link);
        texts.extend(&link.texts);
        let line = match form {
            TapeForm::Redacted => redacted(link, *head),
            TapeForm::None | TapeForm::Full => LinkLine {
                summary: link.is_summary,
                rows: (link.kind == LinkKind::Step).then(|| json::to_value(&link.rows)),
                link: link.link,
                hash: None,
            },
        };
        lines.push(TapeLine::Link(Box::new(line)));
    }
    lines
}

/// A link without texts. A link that contains one is replaced by its hash.
fn redacted(link: ChainLink, hash: ContentHash) -> LinkLine {
    let quotes = |attempts: &Value| {
        let errors = attempts.as_array().into_iter().flatten();
        errors.into_iter().any(|attempt| attempt.get(1).is_some_and(Value::is_string))
    };
    let has_text = match link.kind {
        LinkKind::Close | LinkKind::Summary => true,
        LinkKind::Instructions => false,
        LinkKind::Step => link.link.get("attempts").is_some_and(quotes),
    };
    // Rows of the books, with the prices that were read for them. Orders that an agent places have the tool's reply in
    // the same step.
    let is_of_books = |row: &DerivedRow| {
        matches!(
            row,
            DerivedRow::Position(_)
                | DerivedRow::Order(_)
                | DerivedRow::Snapshot(_)
                | DerivedRow::Exposure(_)
        )
    };
    let is_plain = link.kind == LinkKind::Step && link.rows.iter().all(is_of_books);
    LinkLine {
        summary: link.is_summary,
        link: if has_text { Value::Null } else { link.link },
        hash: has_text.then_some(hash),
        rows: (is_plain && !has_text).then(|| json::to_value(&link.rows)),
    }
}

/// Every text that the tape references, and what these reference in turn.
async fn write_texts(
    app: &App,
    mut texts: BTreeSet<ContentHash>,
    archive: &mut ArchiveWriter,
    folder: &str,
) -> Result<(), ServiceError> {
    let mut out = archive.open(format!("{folder}/texts.jsonl"), LINES);
    let mut waiting: Vec<ContentHash> = texts.iter().copied().collect();
    while !waiting.is_empty() {
        let mut linked = BTreeSet::new();
        for group in waiting.chunks(GROUP) {
            let mut stored = app.store.texts(group.to_vec()).await?;
            for hash in group {
                let missing = || anyhow::anyhow!("the text {hash} is missing");
                let body = stored.remove(hash).ok_or_else(missing)?;
                let (text, referenced) = whole(app, *hash, body).await?;
                linked.extend(referenced);
                line(&mut out, &TextLine { hash: *hash, text })?;
            }
        }
        linked.retain(|hash| texts.insert(*hash));
        waiting = linked.into_iter().collect();
    }
    Ok(out.finish()?)
}

/// The text whose hash it is: of a document, its canonical JSON with all strings. Also what it references.
async fn whole(
    app: &App,
    hash: ContentHash,
    body: String,
) -> Result<(String, Vec<ContentHash>), ServiceError> {
    if ContentHash::of(body.as_bytes()) == hash {
        return Ok((body, Vec::new()));
    }
    let stored: Value = serde_json::from_str(&body).map_err(anyhow::Error::from)?;
    let extracted: BTreeMap<ContentHash, String> = app.store.texts(references(&stored)).await?;
    let value = inline(&stored, &|hash| extracted.get(&hash).cloned()).map_err(anyhow::Error::from)?;
    Ok((format!("json\n{}", json::canonical(&value)), linked_documents(&stored)))
}

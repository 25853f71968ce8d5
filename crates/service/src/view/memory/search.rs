//! Keyword and semantic search over reflections, best match first, and their embeddings.

use super::answers;
use super::filter;
use crate::app::App;
use crate::error::ServiceError;
use crate::view::deployment;
use papertape_agents::memory::lessons::Lesson;
use papertape_core::message::ModelName;
use papertape_core::record::{ReflectionRow, SummarySource};
use papertape_embed::vector;
use papertape_protocol::memory::ReembedBody;
use papertape_protocol::memory::{ReembedResponse, ReflectionResponse, SearchBy, TradesResponse};
use papertape_protocol::query::MAX_ROWS;
use papertape_store::{StoredRound, TradeFilter, VectorFor};
use std::collections::HashMap;

/// The default number of ranked results.
const DEFAULT: u32 = 10;
/// The number of results of each ranking that are fused.
const RANKED: usize = 200;
/// A word in more than one of this many texts, and in more than [`FEW`], carries too little weight.
const ONE_IN: usize = 20;
/// A word in at most this many texts always counts.
const FEW: usize = 3;
/// The weight of all query words relative to a cosine.
const OF_WORDS: f64 = 0.2;
/// Batch size of embedding.
const BATCH: u32 = 32;

/// The requested search, or the configured default. `None`: by keyword.
pub(super) fn model_for(
    app: &App,
    asked: Option<SearchBy>,
    has_query: bool,
) -> Result<Option<(&ModelName, SearchBy)>, ServiceError> {
    let model = app.config.embeddings.model.as_ref();
    match (asked, model) {
        (Some(SearchBy::Semantic | SearchBy::Both), _) if !has_query => {
            Err(ServiceError::invalid("query", "required for a semantic search"))
        }
        (Some(SearchBy::Semantic | SearchBy::Both), None) => {
            Err(ServiceError::invalid("search", "no embedding model is configured; set embeddings.model"))
        }
        (Some(SearchBy::Keyword), _) | (None, None) => Ok(None),
        (Some(by), Some(model)) => Ok(Some((model, by))),
        (None, Some(model)) => Ok(has_query.then_some((model, SearchBy::Both))),
    }
}

/// The result of a semantic search.
pub(super) enum Ranked {
    /// The response.
    Answer(Box<TradesResponse>),
    /// The model could not be called: why.
    Failed(String),
}

/// The best matches among the filtered reflections.
pub(super) async fn ranked(
    app: &App,
    filter: &TradeFilter,
    question: &str,
    (model, by): (&ModelName, SearchBy),
    limit: Option<u32>,
) -> Result<Ranked, ServiceError> {
    let most = limit.unwrap_or(DEFAULT);
    if most == 0 || most > MAX_ROWS {
        return Err(ServiceError::invalid(
            "limit",
            format!("{most} is out of range; expected 1 to {MAX_ROWS}"),
        ));
    }
    if let Err(why) = app.embeddings.check(model) {
        return Ok(Ranked::Failed(why));
    }
    let asked = match app.embeddings.embed(model, vec![question.to_owned()]).await {
        Ok(made) => made.into_iter().next().unwrap_or_default(),
        Err(failed) => return Ok(Ranked::Failed(failed.failure.to_string())),
    };
    let filter = TradeFilter { query: None, ..filter.clone() };
    let among = app.store.trade_ids(&filter).await?;
    let name = model.to_string();
    let nearest = app.vectors.nearest(&app.store, &name, (&asked, RANKED), &among).await?;
    let ids = match by {
        SearchBy::Both => {
            let words = by_words(&app.store.trade_ids_by_word(&filter, question).await?, &among);
            fused(&words, &nearest.found, &among)
        }
        SearchBy::Semantic | SearchBy::Keyword => nearest.found.iter().map(|(id, _)| *id).collect(),
    };
    let found = app.store.trades_by_id(&ids).await?;
    // Reflections from a template rank after all others.
    let is_judged = |item: &StoredRound<ReflectionRow>| item.row.source != SummarySource::Template;
    let (judged, templates): (Vec<_>, Vec<_>) = found.into_iter().partition(is_judged);
    let best = judged.into_iter().chain(templates).take(most as usize);
    let trades: Vec<ReflectionResponse> = best.map(answers::reflection).collect();
    Ok(Ranked::Answer(Box::new(TradesResponse {
        count: trades.len(),
        trades,
        search: by,
        search_note: None,
        embedding_model: Some(name),
        without_vector: Some(nearest.without_vector),
        next_cursor: None,
        deployment: deployment(app),
    })))
}

/// By both: the cosine, and [`OF_WORDS`] of the share of the question's words. A convex combination of the
/// two scores, which keeps what ranks forget: how near, and how much of the question (Bruch, Gai and Ingber,
/// "An analysis of fusion functions for hybrid retrieval", ACM TOIS 42, 2023). What is not among the nearest
/// counts as the farthest of them. Ties go to the newer exit.
fn fused(words: &[(i64, f64)], meaning: &[(i64, f32)], among: &[i64]) -> Vec<i64> {
    let farthest = meaning.last().map_or(0.0, |(_, cosine)| f64::from(*cosine));
    let mut scores: HashMap<i64, f64> =
        meaning.iter().map(|(id, cosine)| (*id, f64::from(*cosine))).collect();
    for (id, share) in words {
        *scores.entry(*id).or_insert(farthest) += OF_WORDS * share;
    }
    in_order(&scores, among).into_iter().map(|(id, _)| id).collect()
}

/// Reflections ranked by the words that they have of a question's, with their share of it, from 0 to 1: each
/// word counts `ln(1 + (N - n + 1/2) / (n + 1/2))`, N reflections being searched, n of them with the word.
/// That is the weight of BM25 (Robertson and Zaragoza, "The probabilistic relevance framework", 2009), whose
/// term frequencies have no part: the index knows only which words a text has. Words that more than one text
/// in twenty has do not count, for a question in whole sentences is full of them. Ties go to the newer exit.
#[must_use]
pub fn by_words(postings: &[Vec<i64>], among: &[i64]) -> Vec<(i64, f64)> {
    let mut scores: HashMap<i64, f64> = HashMap::new();
    let (most, mut whole) = (FEW.max(among.len() / ONE_IN), 0.0);
    for ids in postings.iter().filter(|ids| ids.len() <= most) {
        let (all, with) = (among.len() as f64, ids.len() as f64);
        let weight = (1.0 + ((all - with).max(0.0) + 0.5) / (with + 0.5)).ln();
        whole += weight;
        for id in ids {
            *scores.entry(*id).or_default() += weight;
        }
    }
    for score in scores.values_mut() {
        *score /= whole;
    }
    let mut ranked = in_order(&scores, among);
    ranked.truncate(RANKED);
    ranked
}

/// Scored items, the highest first; ties keep their order.
fn in_order(scores: &HashMap<i64, f64>, among: &[i64]) -> Vec<(i64, f64)> {
    let mut ranked: Vec<(i64, f64)> = among.iter().filter_map(|id| Some((*id, *scores.get(id)?))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked
}

/// Embeds every reflection that has no embedding of the configured model.
///
/// # Errors
/// No model in the configuration, or one that cannot be called; reflections embedded until then stay embedded.
pub async fn memory_reembed(app: &App, body: &ReembedBody) -> Result<ReembedResponse, ServiceError> {
    let Some(model) = &app.config.embeddings.model else {
        return Err(ServiceError::invalid("embeddings.model", "no embedding model is configured"));
    };
    app.embeddings.check(model).map_err(|why| ServiceError::invalid("embeddings.model", why))?;
    let of = filter(body.model.as_ref(), body.job_id.as_deref())?;
    let name = model.to_string();
    let (mut after, mut embedded) = (0, 0);
    loop {
        let found = app.store.trades_without_vector(&of, &name, after, BATCH).await?;
        let Some(last) = found.last() else { break };
        after = last.id;
        let texts: Vec<String> = found.iter().map(|item| Lesson::from(&item.row).text()).collect();
        let made = app.embeddings.embed(model, texts).await.map_err(|failed| {
            ServiceError::invalid("embeddings.model", format!("{}; {embedded} were embedded", failed.failure))
        })?;
        let row = |(item, made): (&StoredRound<_>, &Vec<f32>)| VectorFor {
            reflection: item.id,
            model: name.clone(),
            vector: vector::to_bytes(made),
        };
        app.store.store_vectors(found.iter().zip(&made).map(row).collect()).await?;
        embedded += found.len();
    }
    Ok(ReembedResponse { embedding_model: name, embedded, deployment: deployment(app) })
}

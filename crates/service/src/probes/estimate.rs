//! Estimates the calls, tokens and cost of a probe from its own prompts.

use crate::app::App;
use papertape_core::message::Usage;
use papertape_evidence::{PARAPHRASES, Quiz, QuizKind};
use papertape_protocol::number::number;
use papertape_protocol::probes::{ProbeEstimate, ProbeKindCount};
use papertape_runtime::budget::{Spend, estimated_input};
use papertape_runtime::memory_probe::{MemoryProbeConfig, controls_name, request_of};
use rust_decimal::Decimal;

/// Output tokens of a reply with one letter.
const LETTER_TOKENS: u64 = 4;

pub(super) fn estimate(app: &App, config: &MemoryProbeConfig, quiz: &Quiz) -> ProbeEstimate {
    let models = &*app.services.models;
    let input_tokens: u64 = quiz
        .items
        .iter()
        .flat_map(|item| (0..PARAPHRASES).map(|wording| item.prompt(wording)))
        .map(|prompt| estimated_input(&request_of(config, models, &prompt)))
        .sum();
    let calls = (quiz.items.len() * PARAPHRASES) as u64;
    let max_output = calls * u64::from(config.sampling.max_tokens.unwrap_or_default());
    let cost = |output_tokens: u64| {
        let usage = Usage { input_tokens, cached_tokens: 0, output_tokens };
        models.cost(&config.model, &usage)
    };
    let output_tokens = calls * LETTER_TOKENS;
    let spend = Spend { tokens: input_tokens + output_tokens, usd: cost(output_tokens).unwrap_or_default() };
    let limit = config.budget.job;
    let count = |kind: QuizKind, is_control: bool| {
        quiz.items.iter().filter(|item| item.kind == kind && item.is_control == is_control).count()
    };
    let rounded = |cost: Decimal| number(cost.round_dp(4));
    ProbeEstimate {
        controls: controls_name(quiz.controls).to_owned(),
        kinds: config
            .kinds
            .iter()
            .map(|kind| ProbeKindCount {
                kind: kind.name().to_owned(),
                items: count(*kind, false),
                controls: count(*kind, true),
            })
            .collect(),
        wordings: PARAPHRASES,
        calls,
        input_tokens,
        output_tokens,
        cost_usd: cost(output_tokens).map(rounded),
        max_cost_usd: cost(max_output).map(rounded),
        exceeds_budget: limit.tokens.is_some_and(|max| spend.tokens > max)
            || limit.usd.is_some_and(|max| spend.usd > max),
    }
}

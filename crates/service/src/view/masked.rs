//! Presents masked jobs under their real names and days. Their books, tapes and memories are in the masked world;
//! what the program says about them is translated here, and marked.

use crate::app::App;
use crate::error::ServiceError;
use papertape_core::id::Symbol;
use papertape_core::market::{MaskKind, MaskedSymbol, Masking};
use papertape_core::time::Date;
use papertape_protocol::masking::MaskedResponse;
use papertape_protocol::number::number;
use papertape_runtime::config::SimulationConfig;
use rust_decimal::Decimal;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The mark of a masked job; `None` if it is not masked.
pub(super) fn mark(config: &SimulationConfig) -> Option<MaskedResponse> {
    let masking = config.translation()?;
    let note = match masking.kind {
        MaskKind::Dates => "shown under real dates; texts are masked",
        MaskKind::Entities => "shown under real names; prices, quantities and texts are masked",
        MaskKind::All => "shown under real names and dates; prices, quantities and texts are masked",
    };
    let factors = masking.symbols.values();
    Some(MaskedResponse {
        mask: masking.kind.as_str().to_owned(),
        note: note.to_owned(),
        price_factors: factors.map(|of| (of.symbol.to_string(), number(of.price_factor))).collect(),
    })
}

/// The translation of what a job's results show: its symbols, and what it is compared with.
pub(super) fn translation(
    config: &SimulationConfig,
    benchmark: Option<(&Symbol, &Symbol)>,
) -> Option<Masking> {
    let mut masking = config.translation()?.clone();
    let own = config.masking.as_ref().and_then(|run| config.benchmark.as_ref().zip(run.benchmark.as_ref()));
    for (masked, symbol) in own.into_iter().chain(benchmark).filter(|(masked, real)| masked != real) {
        let entry = masking.symbols.entry(masked.clone());
        entry.or_insert_with(|| MaskedSymbol { symbol: symbol.clone(), price_factor: Decimal::ONE });
    }
    Some(masking)
}

/// A response of a job with real symbols and dates. Free texts of agents must not be in it.
pub(super) fn real<T: Serialize + DeserializeOwned>(
    masking: &Masking,
    response: T,
) -> Result<T, ServiceError> {
    let mut document = serde_json::to_value(response).map_err(anyhow::Error::from)?;
    translate(masking, &mut document);
    Ok(serde_json::from_value(document).map_err(anyhow::Error::from)?)
}

fn translate(masking: &Masking, value: &mut Value) {
    match value {
        Value::String(text) => *text = masking.real_text(text),
        Value::Array(items) => items.iter_mut().for_each(|item| translate(masking, item)),
        Value::Object(fields) => {
            let all = std::mem::take(fields).into_iter().map(|(key, mut value)| {
                // Where a step is on the tape is not translated: it is an address.
                if key != "path" {
                    translate(masking, &mut value);
                }
                (masking.real_text(&key), value)
            });
            *fields = all.collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The day in the books of a job that a request names; unchanged if the job is not masked.
pub(super) fn own_date(config: Option<&SimulationConfig>, date: Date) -> Date {
    config.and_then(SimulationConfig::translation).map_or(date, |masking| masking.masked_date(date))
}

/// The real day of one in a job's books.
pub(super) fn real_date(config: Option<&SimulationConfig>, date: Date) -> Date {
    config.and_then(SimulationConfig::translation).map_or(date, |masking| masking.real_date(date))
}

/// The symbol in the dataset of a job that a request names. One that the dataset does not have stays as it is.
pub(super) fn own_symbol(app: &App, config: &SimulationConfig, real: &Symbol) -> Symbol {
    let Some(run) = &config.masking else { return real.clone() };
    if run.benchmark.as_ref() == Some(real)
        && let Some(own) = &config.benchmark
    {
        return own.clone();
    }
    // The job's translation has the symbols that it trades, the dataset's has all.
    let found = run.translation.masked_symbol(real).or_else(|| {
        let whole = app.catalogue.masking(&config.dataset.hash.to_hex()).ok().flatten()?;
        whole.masked_symbol(real)
    });
    found.unwrap_or_else(|| real.clone())
}

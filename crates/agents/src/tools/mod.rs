//! The tools of an agent: their specs for the model, and the pure code behind each.

pub mod calculate;
pub mod facts;
pub mod market;
pub mod portfolio;
pub mod snapshot;
pub mod trade;

use papertape_core::fence::{Author, fence};
use papertape_core::json::canonical;
use papertape_core::market::{Exposure, MarketView, ReadError};
use papertape_core::message::{Role, ToolCall, ToolSpec};
use papertape_core::record::DerivedRow;
use papertape_core::tape::{
    Ctx, LocalStep, OutcomeKind, SessionStop, StepClass, ToolInvocation, TranscriptMessage,
};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde_json::{Value, json};

/// A tool's answer, with the market data in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// The answer, a JSON object.
    pub value: Value,
    /// The data read for it.
    pub exposures: Vec<Exposure>,
    /// The requested source that is not available, such as `AAPL/fundamentals`.
    pub missing: Option<String>,
}

/// Why a tool returns no data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ToolError {
    /// The arguments are invalid.
    BadArguments(String),
    /// The view has no such data.
    Read(ReadError),
}

impl From<String> for ToolError {
    fn from(message: String) -> Self {
        Self::BadArguments(message)
    }
}

impl From<ReadError> for ToolError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<ToolError> for ToolOutput {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::BadArguments(message) => Self::error(message),
            ToolError::Read(error) => {
                let missing = match &error {
                    ReadError::NoData { series, .. } => Some(series.clone()),
                    _ => None,
                };
                Self { missing, ..Self::error(market::unavailable(&error)) }
            }
        }
    }
}

impl ToolOutput {
    /// An answer with the data read for it.
    #[must_use]
    pub fn of(value: Value, exposures: Vec<Exposure>) -> Self {
        Self { value, exposures, missing: None }
    }

    /// An answer without market data.
    #[must_use]
    pub fn plain(value: Value) -> Self {
        Self::of(value, Vec::new())
    }

    /// An error, reported to the model.
    #[must_use]
    pub fn error(message: impl Into<String>) -> Self {
        Self::plain(json!({ "error": message.into() }))
    }

    /// The rows of the data read.
    #[must_use]
    pub fn implied(&self) -> Vec<DerivedRow> {
        self.exposures.iter().cloned().map(DerivedRow::Exposure).collect()
    }
}

/// Maximum characters of a built-in tool's answer in a prompt. Each tool limits its own counts; a truncated JSON
/// text would be useless.
const MAX_ANSWER_CHARS: usize = 400_000;

/// A tool's answer in the form for the model: fenced as data from that tool.
#[must_use]
pub(crate) fn fenced(tool: &str, answer: &str) -> String {
    fence(Author::Outside, tool, answer, MAX_ANSWER_CHARS)
}

/// Records a tool's answer as a local step, fenced, with the data read for it. Returns the text as recorded.
///
/// # Errors
/// A stop.
pub async fn answer(
    ctx: &mut Ctx,
    view: &MarketView<'_>,
    note: ToolInvocation,
    output: ToolOutput,
) -> Result<String, SessionStop> {
    let content = fenced(&note.name, &canonical(&output.value));
    let recorded = ctx
        .record_local(LocalStep {
            kind: "read",
            class: StepClass::Local,
            arguments: with_view_identity(view, json!({ "tool": note.name, "input": note.input })),
            outcome: json!(content),
            outcome_kind: OutcomeKind::Ok,
            implied: output.implied(),
            message: Some(TranscriptMessage { role: Role::Tool, content, tool: Some(note) }),
        })
        .await?;
    Ok(recorded.as_str().unwrap_or_default().to_owned())
}

/// Records a tool's answer to a program as a local step, with the data read for it. Returns the answer as recorded: JSON,
/// without a fence; the transcript has it fenced.
///
/// # Errors
/// A stop.
pub async fn plain_answer(
    ctx: &mut Ctx,
    view: &MarketView<'_>,
    note: ToolInvocation,
    output: ToolOutput,
) -> Result<Value, SessionStop> {
    let content = fenced(&note.name, &canonical(&output.value));
    ctx.record_local(LocalStep {
        kind: "read",
        class: StepClass::Local,
        arguments: with_view_identity(view, json!({ "tool": note.name, "input": note.input })),
        implied: output.implied(),
        outcome: output.value,
        outcome_kind: OutcomeKind::Ok,
        message: Some(TranscriptMessage { role: Role::Tool, content, tool: Some(note) }),
    })
    .await
}

/// A local step's arguments, with the dataset and the instant that its outcome depends on.
pub(crate) fn with_view_identity(view: &MarketView<'_>, mut arguments: Value) -> Value {
    arguments["dataset"] = json!(view.dataset());
    arguments["instant"] = json!(view.instant());
    arguments
}

/// A decimal as the nearest JSON number.
#[must_use]
pub fn number(value: Decimal) -> Value {
    let value = value.normalize();
    if value.scale() == 0
        && let Some(whole) = value.to_i64()
    {
        return json!(whole);
    }
    json!(value.to_f64())
}

/// A tool's spec: properties as (name, schema), of which the first `required` are required.
fn spec(name: &str, description: &str, properties: &[(&str, Value)], required: usize) -> ToolSpec {
    let names: Vec<&str> = properties.iter().take(required).map(|(name, _)| *name).collect();
    let properties: serde_json::Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({
            "type": "object",
            "properties": properties,
            "required": names,
            "additionalProperties": false,
        }),
    }
}

/// The error for a call with unknown arguments: ignoring them would answer a different request. `also`: arguments
/// that the tool accepts without offering them here.
pub(crate) fn unknown_arguments(specs: &[ToolSpec], call: &ToolCall, also: &[&str]) -> Option<ToolOutput> {
    let spec = specs.iter().find(|spec| spec.name == call.name)?;
    let known = spec.parameters["properties"].as_object()?;
    let is_unknown = |name: &&String| !known.contains_key(name.as_str()) && !also.contains(&name.as_str());
    let unknown: Vec<String> =
        call.arguments.as_object()?.keys().filter(is_unknown).map(|name| format!("`{name}`")).collect();
    let all: Vec<&str> = known.keys().map(String::as_str).collect();
    (!unknown.is_empty()).then(|| {
        ToolOutput::error(format!(
            "`{}` has no argument {}; allowed: {}",
            call.name,
            unknown.join(", "),
            if all.is_empty() { "none".to_owned() } else { all.join(", ") }
        ))
    })
}

/// A tool's arguments. Errors name the invalid field.
pub(crate) struct Arguments<'a>(&'a Value);

impl<'a> Arguments<'a> {
    /// The arguments, which must be an object.
    pub(crate) fn of(arguments: &'a Value) -> Result<Self, String> {
        match arguments {
            Value::Object(_) => Ok(Self(arguments)),
            Value::String(raw) => Err(format!(
                "the arguments are not a JSON object: {}",
                raw.chars().take(200).collect::<String>()
            )),
            other => Err(format!("the arguments are not a JSON object: {other}")),
        }
    }

    /// A required text.
    pub(crate) fn text(&self, name: &str) -> Result<&'a str, String> {
        self.optional_text(name)?.ok_or_else(|| format!("`{name}` is missing"))
    }

    /// An optional text.
    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&'a str>, String> {
        match &self.0[name] {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text.trim())),
            other => Err(format!("`{name}` must be a string, not {other}")),
        }
    }

    /// An optional number. Models sometimes send numbers as texts.
    pub(crate) fn optional_number(&self, name: &str) -> Result<Option<Decimal>, String> {
        let text = match &self.0[name] {
            Value::Null => return Ok(None),
            Value::Number(number) => number.to_string(),
            Value::String(text) => text.trim().replace(',', ""),
            other => return Err(format!("`{name}` must be a number, not {other}")),
        };
        text.parse::<Decimal>()
            .or_else(|_| Decimal::from_scientific(&text))
            .map(Some)
            .map_err(|_| format!("`{name}` must be a finite number, not {text}"))
    }

    /// A count from 1 to `max`, or `default`.
    pub(crate) fn count(&self, name: &str, default: usize, max: usize) -> Result<usize, String> {
        match self.optional_number(name)? {
            None => Ok(default),
            Some(value) => match value.to_usize() {
                Some(count) if value.is_integer() && (1..=max).contains(&count) => Ok(count),
                _ => Err(format!("`{name}` must be a whole number from 1 to {max}")),
            },
        }
    }

    /// An optional list of texts; one text is a list of one.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<&'a str>, String> {
        match &self.0[name] {
            Value::Null => Ok(Vec::new()),
            Value::String(text) => Ok(text.split(',').map(str::trim).collect()),
            Value::Array(items) => items
                .iter()
                .map(|item| item.as_str().ok_or_else(|| format!("`{name}` must be a list of strings")))
                .collect(),
            other => Err(format!("`{name}` must be a list of strings, not {other}")),
        }
    }
}

//! The columns of the exported tables. `docs/tables.md` shows the same, and a test keeps the two equal.

use serde_json::{Value, json};
use std::fmt::Write as _;

/// The version of the tables. It changes when a column is removed, renamed, or changes its type or meaning.
pub const TABLES_VERSION: u32 = 1;
/// Digits of a decimal, before and after the point together.
pub(super) const PRECISION: u32 = 38;
/// Decimals of a decimal. Prices have at most 10 and quantities 8, so every product of the two is exact; a charge per
/// unit has 16.
pub(super) const SCALE: u32 = 18;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// UTF-8 text.
    Text,
    /// A JSON document as text.
    Json,
    /// A 64-bit integer.
    Integer,
    /// A double, for statistics.
    Float,
    /// True or false.
    Boolean,
    /// An exact decimal.
    Decimal,
    /// A trading day.
    Date,
    /// An instant in UTC, in microseconds.
    Instant,
}

impl ColumnType {
    /// The name in `schema.json` and in the documentation: that of SQL.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "VARCHAR",
            Self::Json => "JSON",
            Self::Integer => "BIGINT",
            Self::Float => "DOUBLE",
            Self::Boolean => "BOOLEAN",
            Self::Decimal => "DECIMAL(38,18)",
            Self::Date => "DATE",
            Self::Instant => "TIMESTAMP(UTC)",
        }
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: ColumnType,
    /// Whether it can be null.
    pub nullable: bool,
    /// The unit of its values; empty: none.
    pub unit: &'static str,
    /// What it contains.
    pub meaning: &'static str,
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name, and that of its file without `.parquet`.
    pub name: &'static str,
    /// What a row is, and how rows are sorted.
    pub about: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
}

pub(super) const SESSIONS: usize = 0;
pub(super) const MESSAGES: usize = 1;
pub(super) const STEPS: usize = 2;
pub(super) const ORDERS: usize = 3;
pub(super) const FILLS: usize = 4;
pub(super) const POSITIONS: usize = 5;
pub(super) const SNAPSHOTS: usize = 6;
pub(super) const METRICS: usize = 7;
pub(super) const DATA_READ: usize = 8;
pub(super) const USAGE: usize = 9;

use ColumnType::{Boolean, Date, Decimal, Float, Instant, Integer, Json, Text};

const fn column(name: &'static str, kind: ColumnType, meaning: &'static str) -> Column {
    Column { name, kind, nullable: false, unit: "", meaning }
}

impl Column {
    const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    const fn optional(self) -> Self {
        Self { nullable: true, ..self }
    }
}

const JOB: Column = column("job_id", Text, "The job.");
const DAY: Column = column("date", Date, "The trading day.").unit("day at the exchange");
const AGENT: Column = column("agent", Text, "The agent: `model` in the API.");
const SESSION: Column = column("session_id", Integer, "The session.");
const SYMBOL: Column = column("symbol", Text, "The instrument.");
const PATH: Column = column("path", Text, "The step on the tape; null for imported rows.").optional();

const MONEY: &str = "account currency";
const PER_UNIT: &str = "account currency per unit";
const UNITS: &str = "shares or units";
const TOKENS: &str = "tokens";

const STOP: Column =
    column("stop", Decimal, "The stop in force after the fill; of a closing fill, the position's.")
        .unit(PER_UNIT)
        .optional();
const TARGET: Column = column("target", Decimal, "The same for the target.").unit(PER_UNIT).optional();
const LEVERAGE: Column =
    column("leverage", Decimal, "Leverage of the position, 1 for none.").unit("multiple").optional();
const REALIZED: Column =
    column("realized_pnl", Decimal, "Realized profit or loss of a closing fill, after its fee and its share of the opening fees, dividends and financing.")
        .unit(MONEY)
        .optional();

/// All tables.
pub static TABLES: [Table; 10] = [
    Table {
        name: "sessions",
        about: "One row per model-day, including days that are queued or skipped. Sorted by job, date and agent.",
        columns: &[
            JOB,
            DAY,
            AGENT,
            column("session_id", Integer, "The session; null for a day that has not started or is skipped.").optional(),
            column("job_kind", Text, "`simulate`, or the kind of another job."),
            column("job_status", Text, "The status of the job at the export. `queued` or `running`: the rows are interim."),
            column("status", Text, "`queued`, `running`, `completed`, `failed` or `skipped`."),
            column("error", Text, "Why it failed or was skipped.").optional(),
            column("skipped_job_id", Text, "Of a skipped day: the job that completed it.").optional(),
            column("skipped_session_id", Integer, "Of a skipped day: the session that completed it.").optional(),
            column("superseded_by", Text, "The job that has replaced this agent's days.").optional(),
            column("quality", Text, "`ok`, `research_degraded`, `node_degraded`, `no_decision` or `failed`; null until the day ends.").optional(),
            column("quality_reason", Text, "The first reason why it is not `ok`.").optional(),
            column("is_full_research", Boolean, "Whether no node was degraded; null until the day ends.").optional(),
            column("point_in_time", Text, "`verified` or `unverified`; null until the day ends.").optional(),
            column("unverified_kind", Text, "Why it is unverified: `external_tools`, `external`, `import`, `memory`, `continuation` or `branch`.").optional(),
            column("unverified_job_id", Text, "The job of the session that the mark originates from.").optional(),
            column("unverified_date", Date, "The day of that session.").optional(),
            column("insolvent_since", Date, "The day on which the account became insolvent.").optional(),
            column("agent_kind", Text, "`solo`, `desk` or `external`.").optional(),
            column("model", Text, "`provider::model`.").optional(),
            column("is_llm", Boolean, "False: a rule-based house model.").optional(),
            column("dataset_hash", Text, "The dataset of the job, 64 hex digits.").optional(),
            column("starting_cash", Decimal, "Cash before the day.").unit(MONEY).optional(),
            column("starting_portfolio_value", Decimal, "Portfolio value before the day.").unit(MONEY).optional(),
            column("cash", Decimal, "Cash at the close.").unit(MONEY).optional(),
            column("portfolio_value", Decimal, "Cash and holdings at the close.").unit(MONEY).optional(),
            column("daily_profit", Decimal, "`portfolio_value` less that of the previous session.").unit(MONEY).optional(),
            column("daily_return_pct", Decimal, "The same in percent; null if the previous value was not positive.").unit("percent").optional(),
            column("total_messages", Integer, "Messages at the close.").unit("messages").optional(),
            column("summary", Text, "The summary.").optional(),
            column("summary_error", Text, "Why there is no summary.").optional(),
            column("metadata", Json, "The session's metadata, as recorded.").optional(),
            column("started_at", Instant, "When it was opened.").optional(),
            column("completed_at", Instant, "When it was closed.").optional(),
            column("score", Integer, "The score given by hand, 1 (bad) to 5 (good).").optional(),
            column("note", Text, "The note written by hand.").optional(),
            column("reviewed_at", Instant, "When one of them last changed.").optional(),
            column("reviewed_by", Text, "The name of the token that changed it last; null if no token was required.").optional(),
        ],
    },
    Table {
        name: "messages",
        about: "One row per message of a transcript. Sorted by job, date, agent and number.",
        columns: &[
            JOB,
            DAY,
            AGENT,
            SESSION,
            column("message_index", Integer, "Its number in the session, from 0."),
            column("role", Text, "`user`, `assistant` or `tool`."),
            column("node", Text, "The node, with its round."),
            column("path", Text, "The step on the tape."),
            column("content", Text, "The text, redacted as in the record; empty for a turn that only calls tools."),
            column("tool_name", Text, "The tool whose result it is.").optional(),
            column("tool_input", Json, "The arguments of the tool call.").optional(),
            column("summary", Text, "Its summary.").optional(),
            column("summary_error", Text, "Why there is no summary.").optional(),
            column("timestamp", Instant, "When it was recorded."),
        ],
    },
    Table {
        name: "steps",
        about: "One row per step of a tape. Sorted by job, date, agent and the order of their start.",
        columns: &[
            JOB,
            DAY,
            AGENT,
            SESSION,
            column("path", Text, "Its path on the tape."),
            column("kind", Text, "Its kind: `model`, `order` and the like."),
            column("class", Text, "`external`, `local`, `order` or `guard`."),
            column("is_detached", Boolean, "Whether it is on the separate tape of the summaries."),
            column("seq", Integer, "Its link in the session's hash chain; null while it is open.").optional(),
            column("state", Text, "`intent`, `done` or `abandoned`."),
            column("outcome", Text, "How a step that is done ended, as `outcome` in the API.").optional(),
            column("digest", Text, "The hash of the request, 64 hex digits."),
            column("request_ref", Text, "The hash of the request's document.").optional(),
            column("outcome_ref", Text, "The hash of the outcome's document.").optional(),
            column("reused_from", Text, "The step that it was copied from.").optional(),
            column("attempts", Integer, "Attempts that were sent.").unit("attempts"),
            column("interrupted", Integer, "Attempts that a crash or a stop interrupted.").unit("attempts"),
            column("input_tokens", Integer, "Of all attempts.").unit(TOKENS),
            column("cached_tokens", Integer, "Of these, read from the provider's cache.").unit(TOKENS),
            column("output_tokens", Integer, "Of all attempts.").unit(TOKENS),
            column("estimated_calls", Integer, "Attempts whose usage is an estimate.").unit("attempts"),
            column("cost_usd", Decimal, "Cost of all attempts; null if no price is known.").unit("US dollars").optional(),
            column("hash", Text, "The hash of its link.").optional(),
            column("started_at", Instant, "When it was started."),
            column("ended_at", Instant, "When it ended.").optional(),
            column("model", Text, "Of a model call: the requested model, `provider::model`.").optional(),
            column("finish_reason", Text, "Of a model's response: `stop`, `tool_calls`, `length` or `content_filter`.").optional(),
        ],
    },
    Table {
        name: "orders",
        about: "One row per recorded state of an order: a pending order has another row on the day on which it fills or \
                is rejected. Sorted by job, date, agent and number.",
        columns: &[
            JOB,
            DAY,
            AGENT,
            SESSION,
            column("row_number", Integer, "Its number in the session, from 1."),
            column("order_id", Text, "The order, unique within job and agent."),
            SYMBOL,
            column("side", Text, "`buy`, `sell`, `short`, `cover` or `stop_change`."),
            column("quantity", Decimal, "The requested quantity.").unit(UNITS),
            column("status", Text, "`filled`, `pending`, `rejected` or `expired`."),
            column("code", Text, "The reason code of a rejection.").optional(),
            column("message", Text, "The reason in a sentence.").optional(),
            column("numbers", Json, "The numbers behind the decision.").optional(),
            column("price", Decimal, "The price of the fill, slippage included.").unit(PER_UNIT).optional(),
            column("fee", Decimal, "The fee of the fill.").unit(MONEY).optional(),
            column("slippage", Decimal, "The cost of slippage, already in the price.").unit(MONEY).optional(),
            REALIZED,
            column("stop", Decimal, "The stop of the order.").unit(PER_UNIT).optional(),
            column("target", Decimal, "The target of the order.").unit(PER_UNIT).optional(),
            column("leverage", Decimal, "The requested leverage.").unit("multiple").optional(),
            column("placed_session_id", Integer, "The session in which it was placed.").optional(),
            column("placed_on", Date, "The day on which it was placed.").optional(),
            column("path", Text, "The step that placed it; null for imported orders.").optional(),
        ],
    },
    Table {
        name: "fills",
        about: "One row per fill, including stops, targets, liquidations and delistings. Sorted by job, date, agent and \
                number.",
        columns: &[
            JOB,
            DAY,
            AGENT,
            SESSION,
            column("action_id", Integer, "The number of the action in the session, from 1."),
            column("action_type", Text, "`buy`, `sell`, `short`, `cover`, `stop`, `target`, `liquidation` or `delisting`."),
            SYMBOL,
            column("quantity", Decimal, "The quantity, above zero.").unit(UNITS),
            column("price", Decimal, "The price, slippage included.").unit(PER_UNIT),
            column("fee", Decimal, "The fee.").unit(MONEY),
            column("fee_parts", Json, "The components of the fee: name, category and amount. Empty where they are unknown."),
            column("slippage", Decimal, "The cost of slippage, already in the price.").unit(MONEY),
            REALIZED,
            LEVERAGE,
            STOP,
            TARGET,
            column("order_id", Text, "The order; null for a forced fill.").optional(),
            column("placed_session_id", Integer, "The session in which the order was placed.").optional(),
            column("placed_on", Date, "The day on which the order was placed.").optional(),
            column("placed_path", Text, "The step that placed the order.").optional(),
            PATH,
            column("cash_after", Decimal, "Cash after the fill.").unit(MONEY),
            column("portfolio_value_after", Decimal, "Portfolio value after the fill, at the prices known then.").unit(MONEY),
        ],
    },
    Table {
        name: "positions",
        about: "One row per action of the books: fills, splits, dividends, financing, and `no_trade` for a day without \
                any. Sorted by job, date, agent and number.",
        columns: &[
            JOB,
            DAY,
            AGENT,
            SESSION,
            column("action_id", Integer, "The number of the action in the session, from 1."),
            column("action_type", Text, "As in `fills`, or `split`, `dividend`, `financing` or `no_trade`."),
            column("symbol", Text, "The instrument; null for `no_trade`.").optional(),
            column("amount", Decimal, "Units traded. Of a split, the units held after it; of a dividend and of financing, the units held; below zero for a short position.").unit(UNITS),
            column("price", Decimal, "The price; of a dividend, per share; of financing, the charge per unit; of a split, the previous close over the ratio.").unit(PER_UNIT).optional(),
            column("cash", Decimal, "Cash after the action.").unit(MONEY),
            column("portfolio_value", Decimal, "Portfolio value after the action.").unit(MONEY),
            column("daily_profit", Decimal, "On the last row of a session: as in `sessions`.").unit(MONEY).optional(),
            column("daily_return_pct", Decimal, "On the last row of a session: as in `sessions`.").unit("percent").optional(),
            column("order_id", Text, "The order of a fill.").optional(),
            column("fee", Decimal, "The fee of a fill; null in records of rules version 1.").unit(MONEY).optional(),
            column("slippage", Decimal, "The cost of slippage of a fill.").unit(MONEY).optional(),
            REALIZED,
            LEVERAGE,
            STOP,
            TARGET,
            column("ratio", Decimal, "New shares per old share, of a split.").unit("ratio").optional(),
            column("nights", Integer, "The calendar nights that financing pays for.").unit("nights").optional(),
            PATH,
        ],
    },
    Table {
        name: "snapshots",
        about: "One row per open position at a close. Sorted by job, date, agent and symbol.",
        columns: &[
            JOB,
            DAY,
            AGENT,
            SESSION,
            SYMBOL,
            column("position_id", Text, "The position."),
            column("quantity", Decimal, "Units; below zero for a short position.").unit(UNITS),
            column("avg_price", Decimal, "The average price at which it was opened.").unit(PER_UNIT),
            column("close", Decimal, "The close, or the last known price.").unit(PER_UNIT),
            column("unrealized_pnl", Decimal, "`quantity x (close - avg_price)`; `unrealised_pnl` in the API.").unit(MONEY),
            column("stop", Decimal, "The stop in force.").unit(PER_UNIT).optional(),
            column("leverage", Decimal, "Its leverage, 1 for none.").unit("multiple"),
        ],
    },
    Table {
        name: "metrics",
        about: "One row per job, agent, series and metric. They cover all days of the agent in the job, including \
                skipped ones. Sorted by job and agent.",
        columns: &[
            JOB,
            AGENT,
            column("series", Text, "`agent`, `full_research` (only days with full research), `relative` (the agent against its benchmark), or the baselines and the benchmark: `buy_and_hold`, `equal_weight`, `benchmark`."),
            column("metric", Text, "Its name, as in the API."),
            column("unit", Text, "`fraction` (0.01 is one percent), `ratio` or `money`."),
            column("value", Float, "The value; null if it is undefined.").optional(),
            column("low", Float, "The lower bound of its 95% interval.").optional(),
            column("high", Float, "The upper bound.").optional(),
            column("days", Integer, "The number of days that it is computed from.").unit("days"),
            column("start_date", Date, "The first day."),
            column("end_date", Date, "The last day."),
            column("unavailable", Text, "Why it is null: `too_few_days` (nothing is annualized under 60 days), `undefined`, or why there is no benchmark.").optional(),
        ],
    },
    Table {
        name: "data_read",
        about: "One row per read of market data. Sorted by job, date, agent and order of the reads.",
        columns: &[
            JOB,
            DAY,
            AGENT,
            SESSION,
            column("path", Text, "The step that read."),
            column("dataset_hash", Text, "The dataset, 64 hex digits."),
            column("series", Text, "What was read."),
            column("first_date", Date, "The first day of what was returned.").optional(),
            column("last_date", Date, "The last day of what was returned.").optional(),
            column("rows", Integer, "How many rows were returned.").unit("rows"),
            column("latest_known_at", Instant, "When the newest of them became known.").optional(),
        ],
    },
    Table {
        name: "usage",
        about: "Two rows per session: its own calls, and those of its summaries. Sorted by job, date, agent and scope.",
        columns: &[
            JOB,
            DAY,
            AGENT,
            SESSION,
            column("scope", Text, "`session` or `summaries`."),
            column("input_tokens", Integer, "Tokens sent.").unit(TOKENS),
            column("cached_tokens", Integer, "Of these, read from the provider's cache.").unit(TOKENS),
            column("output_tokens", Integer, "Tokens received.").unit(TOKENS),
            column("cost_usd", Decimal, "Cost of the calls whose price is known. If `unpriced_calls` is above 0, the whole cost is unknown.").unit("US dollars"),
            column("unpriced_calls", Integer, "Calls whose price is unknown.").unit("calls"),
            column("estimated_calls", Integer, "Calls whose usage is an estimate.").unit("calls"),
        ],
    },
];

/// The content of `schema.json`.
#[must_use]
pub fn schema_json() -> Value {
    let column = |column: &Column| {
        json!({
            "name": column.name,
            "type": column.kind.name(),
            "nullable": column.nullable,
            "unit": (!column.unit.is_empty()).then_some(column.unit),
            "description": column.meaning,
        })
    };
    let table = |table: &Table| {
        json!({
            "name": table.name,
            "file": format!("{}.parquet", table.name),
            "description": table.about,
            "columns": table.columns.iter().map(column).collect::<Vec<_>>(),
        })
    };
    json!({ "version": TABLES_VERSION, "tables": TABLES.iter().map(table).collect::<Vec<_>>() })
}

/// The tables in Markdown, as in the documentation.
#[must_use]
pub fn schema_markdown() -> String {
    let mut text = String::new();
    for table in &TABLES {
        let _ = write!(text, "### {}\n\n{}\n\n", table.name, table.about);
        text.push_str("| column | type | null | unit | contents |\n|---|---|---|---|---|\n");
        for column in table.columns {
            let null = if column.nullable { "yes" } else { "" };
            let Column { name, unit, meaning, .. } = column;
            let _ = writeln!(text, "| `{name}` | {} | {null} | {unit} | {meaning} |", column.kind.name());
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the documentation lists the tables and columns that are exported, and nothing else.
    #[test]
    fn the_documentation_is_the_schema() {
        let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tables.md"));
        let docs = docs.expect("docs/tables.md is there");
        assert!(docs.contains(&schema_markdown()), "write into docs/tables.md:\n{}", schema_markdown());
    }

    /// Goal: names are unique, and the constants that select a table select the one that they name.
    #[test]
    fn tables_are_where_their_names_say() {
        let named = [
            (SESSIONS, "sessions"),
            (MESSAGES, "messages"),
            (STEPS, "steps"),
            (ORDERS, "orders"),
            (FILLS, "fills"),
            (POSITIONS, "positions"),
            (SNAPSHOTS, "snapshots"),
            (METRICS, "metrics"),
            (DATA_READ, "data_read"),
            (USAGE, "usage"),
        ];
        for (at, name) in named {
            assert_eq!(TABLES[at].name, name);
            let mut names: Vec<&str> = TABLES[at].columns.iter().map(|column| column.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), TABLES[at].columns.len(), "{name}");
        }
    }
}

//! Budgets in tokens and USD: per job, per agent and per day, plus a separate one for summaries. Reserved before
//! a call, settled after it, rebuilt from the record on resume.

use papertape_core::id::AgentName;
use papertape_core::message::{FailureKind, ModelReply, ModelRequest, Usage};
use papertape_core::record::UsageTotal;
use papertape_core::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

/// Output tokens reserved for a request without a limit.
const USUAL_OUTPUT: u64 = 2_048;
/// Approximate characters per token.
const CHARS_PER_TOKEN: u64 = 4;

pub use papertape_core::budget::Limit;

/// A job's spending limits. Not part of the job's fingerprint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// The whole job, without summaries.
    pub job: Limit,
    /// Each agent.
    pub agent: Limit,
    /// Each agent on each day.
    pub day: Limit,
    /// All summaries of the job.
    pub summaries: Limit,
}

impl Budget {
    /// The stricter limit of each line.
    #[must_use]
    pub fn tighter(self, other: Self) -> Self {
        Self {
            job: self.job.tighter(other.job),
            agent: self.agent.tighter(other.agent),
            day: self.day.tighter(other.day),
            summaries: self.summaries.tighter(other.summaries),
        }
    }

    /// Whether any line limits money.
    #[must_use]
    pub fn bounds_money(&self) -> bool {
        [self.job, self.agent, self.day, self.summaries].iter().any(|limit| limit.usd.is_some())
    }
}

/// Who a call is charged to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BudgetLine {
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// Whether it is for summaries.
    pub detached: bool,
}

/// Tokens and money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spend {
    /// Tokens.
    pub tokens: u64,
    /// US dollars.
    pub usd: Decimal,
}

impl Spend {
    /// Estimated maximum usage of a request: its characters divided by four, plus its limit on output tokens
    /// (2,048 if it has none). `price` converts usage to USD.
    #[must_use]
    pub fn estimate(request: &ModelRequest, price: impl FnOnce(&Usage) -> Option<Decimal>) -> Self {
        let usage = reserved(request);
        Self::of(&usage, price(&usage))
    }

    /// The amount of actual usage.
    #[must_use]
    pub fn of(usage: &Usage, cost_usd: Option<Decimal>) -> Self {
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        Self { tokens, usd: cost_usd.unwrap_or_default() }
    }

    /// Adds another amount.
    pub fn add(&mut self, other: Self) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.usd = self.usd.saturating_add(other.usd);
    }

    /// The maximum that a limit allows; 0 where it is unlimited.
    #[must_use]
    pub fn unlimited_calls(limit: Limit) -> Self {
        Self { tokens: limit.tokens.unwrap_or_default(), usd: limit.usd.unwrap_or_default() }
    }

    /// What a limit leaves after this amount; unlimited where the limit is.
    #[must_use]
    pub fn left_of(self, limit: Limit) -> Limit {
        Limit {
            tokens: limit.tokens.map(|most| most.saturating_sub(self.tokens)),
            usd: limit.usd.map(|most| (most - self.usd).max(Decimal::ZERO)),
        }
    }

    fn take(&mut self, other: Self) {
        self.tokens = self.tokens.saturating_sub(other.tokens);
        self.usd = self.usd.saturating_sub(other.usd);
    }
}

/// An account's usage, and the amount reserved for calls and jobs in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Line {
    used: Spend,
    reserved: Spend,
}

impl Line {
    fn add(&mut self, other: Self) {
        self.used.add(other.used);
        self.reserved.add(other.reserved);
    }

    fn total(self) -> Spend {
        let mut total = self.used;
        total.add(self.reserved);
        total
    }
}

/// A job's running totals.
#[derive(Debug)]
pub struct Budgets {
    budget: Budget,
    spent: Mutex<BTreeMap<BudgetLine, Line>>,
}

impl Budgets {
    /// Restores totals from the record.
    #[must_use]
    pub fn rebuild(budget: Budget, spent: Vec<UsageTotal>) -> Self {
        let mut totals: BTreeMap<BudgetLine, Line> = BTreeMap::new();
        for row in spent {
            let account = BudgetLine { agent: row.agent, date: row.date, detached: row.detached };
            totals.entry(account).or_default().used.add(Spend::of(&row.usage, Some(row.cost_usd)));
        }
        Self { budget, spent: Mutex::new(totals) }
    }

    /// Reserves an amount.
    ///
    /// # Errors
    /// A message that names the exceeded limit, with its numbers.
    pub fn reserve(&self, account: &BudgetLine, amount: Spend) -> Result<(), String> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let total = |of: &dyn Fn(&BudgetLine) -> bool| {
            let mut total = Line::default();
            spent.iter().filter(|(account, _)| of(account)).for_each(|(_, line)| total.add(*line));
            total
        };
        let budget = &self.budget;
        if account.detached {
            check("summaries", budget.summaries, || total(&|a| a.detached), amount)?;
        } else {
            let (agent, date) = (&account.agent, account.date);
            check("job", budget.job, || total(&|a| !a.detached), amount)?;
            let name = format!("agent {agent}");
            check(&name, budget.agent, || total(&|a| !a.detached && a.agent == *agent), amount)?;
            let name = format!("agent {agent} on {date}");
            check(&name, budget.day, || total(&|a| a == account), amount)?;
        }
        spent.entry(account.clone()).or_default().reserved.add(amount);
        Ok(())
    }

    /// Reserves half of what is left of the job's limit under this account, and returns it.
    pub fn reserve_half(&self, account: &BudgetLine) -> Limit {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let mut total = Line::default();
        spent.iter().filter(|(account, _)| !account.detached).for_each(|(_, line)| total.add(*line));
        let left = total.total().left_of(self.budget.job);
        let half = Limit {
            tokens: left.tokens.map(|tokens| tokens / 2),
            usd: left.usd.map(|usd| usd / Decimal::TWO),
        };
        spent.entry(account.clone()).or_default().reserved.add(Spend::unlimited_calls(half));
        half
    }

    /// An account's total: used plus reserved.
    #[must_use]
    pub fn spent(&self, account: &BudgetLine) -> Spend {
        let spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.get(account).copied().unwrap_or_default().total()
    }

    /// Reserves an amount unchecked, because it was already reserved before.
    pub fn set_aside(&self, account: &BudgetLine, amount: Spend) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.entry(account.clone()).or_default().reserved.add(amount);
    }

    /// Replaces a reservation with the actual usage.
    pub fn settle(&self, account: &BudgetLine, reserved: Spend, used: Spend) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let line = spent.entry(account.clone()).or_default();
        line.reserved.take(reserved);
        line.used.add(used);
    }
}

fn check(name: &str, limit: Limit, spent: impl FnOnce() -> Line, next: Spend) -> Result<(), String> {
    if limit == Limit::default() {
        return Ok(());
    }
    let Line { used, reserved } = spent();
    let mut all = Line { used, reserved }.total();
    all.add(next);
    if let Some(most) = limit.tokens.filter(|most| all.tokens > *most) {
        let (used, reserved) = (used.tokens, reserved.tokens);
        return Err(overdrawn(name, "tokens", (used, reserved), (next.tokens, most)));
    }
    if let Some(most) = limit.usd.filter(|most| all.usd > *most) {
        let plain = |amount: Decimal| amount.round_dp(6).normalize();
        let (used, reserved) = (plain(used.usd), plain(reserved.usd));
        return Err(overdrawn(name, "USD", (used, reserved), (plain(next.usd), most.normalize())));
    }
    Ok(())
}

/// Usage to reserve for a request.
pub(crate) fn reserved(request: &ModelRequest) -> Usage {
    let chars = |text: &str| text.len() as u64;
    let input = request.messages.iter().map(|message| chars(message.content())).sum::<u64>()
        + request.instructions.as_deref().map_or(0, chars);
    Usage {
        input_tokens: input / CHARS_PER_TOKEN,
        cached_tokens: 0,
        output_tokens: request.sampling.max_tokens.map_or(USUAL_OUTPUT, u64::from),
    }
}

/// Estimated usage of an attempt whose provider reports none: one token per four characters of the request and
/// the response. An attempt that failed after a response may have used its whole reservation; `None` for one that
/// got no response from a model.
#[must_use]
pub fn estimate(request: &ModelRequest, result: Result<&ModelReply, FailureKind>) -> Option<Usage> {
    let reserved = reserved(request);
    match result {
        Ok(reply) => {
            let calls =
                reply.tool_calls.iter().map(|call| call.name.len() + call.arguments.to_string().len());
            let thought = reply.reasoning.as_deref().map_or(0, str::len);
            let written = (reply.text.len() + thought + calls.sum::<usize>()) as u64;
            Some(Usage { output_tokens: written.div_ceil(CHARS_PER_TOKEN), ..reserved })
        }
        Err(FailureKind::BadAnswer | FailureKind::EmptyAnswer | FailureKind::TimedOut) => Some(reserved),
        Err(_) => None,
    }
}

/// `job: 300 tokens used, 40 reserved by calls under way; the next call may need 20, the limit is 350`.
fn overdrawn<T: Display + Default + PartialEq>(
    name: &str,
    unit: &str,
    (used, reserved): (T, T),
    (next, most): (T, T),
) -> String {
    let reserved = match reserved == T::default() {
        true => "none reserved".to_owned(),
        false => format!("{reserved} reserved by work under way"),
    };
    format!("{name}: {used} {unit} used, {reserved}; the next call may need {next}, the limit is {most}")
}

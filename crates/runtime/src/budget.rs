//! Budgets in tokens and USD: per job, agent and day, and one of their own for summaries. Reserved
//! before a call, settled after it, rebuilt from the record on resume.

use papertape_core::id::AgentName;
use papertape_core::message::{FailureKind, ModelReply, ModelRequest, Usage};
use papertape_core::record::Spent;
use papertape_core::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

/// Output tokens that are reserved where a request does not bound them.
const USUAL_OUTPUT: u64 = 2_048;
/// Characters that make about one token.
const CHARS_PER_TOKEN: u64 = 4;

pub use papertape_core::budget::Limit;

/// What a job may use. Outside of the job's fingerprint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// The whole job, summaries left out.
    pub job: Limit,
    /// Each agent.
    pub agent: Limit,
    /// Each agent on each day.
    pub day: Limit,
    /// All summaries of the job.
    pub summaries: Limit,
}

impl Budget {
    /// Line for line what keeps within both.
    #[must_use]
    pub fn tighter(self, other: Self) -> Self {
        Self {
            job: self.job.tighter(other.job),
            agent: self.agent.tighter(other.agent),
            day: self.day.tighter(other.day),
            summaries: self.summaries.tighter(other.summaries),
        }
    }

    /// Does any line bound money?
    #[must_use]
    pub fn bounds_money(&self) -> bool {
        [self.job, self.agent, self.day, self.summaries].iter().any(|limit| limit.usd.is_some())
    }
}

/// Who wants to spend.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Account {
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// For summaries.
    pub detached: bool,
}

/// An amount reserved for one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Tokens.
    pub tokens: u64,
    /// US dollars.
    pub usd: Decimal,
}

impl Amount {
    /// What a request may use at the most, by an estimate: its characters over four, and its bound of
    /// output tokens (2,048 where it has none). `price` turns usage into USD.
    #[must_use]
    pub fn estimate(request: &ModelRequest, price: impl FnOnce(&Usage) -> Option<Decimal>) -> Self {
        let usage = reserved(request);
        Self::of(&usage, price(&usage))
    }

    /// What was used.
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

    /// The most that a limit allows; nothing where it does not bound.
    #[must_use]
    pub fn most(limit: Limit) -> Self {
        Self { tokens: limit.tokens.unwrap_or_default(), usd: limit.usd.unwrap_or_default() }
    }

    /// What a limit leaves beside this; no bound where it has none.
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

/// What an account has used, and what is reserved for calls and jobs that are under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Line {
    used: Amount,
    reserved: Amount,
}

impl Line {
    fn add(&mut self, other: Self) {
        self.used.add(other.used);
        self.reserved.add(other.reserved);
    }

    fn total(self) -> Amount {
        let mut total = self.used;
        total.add(self.reserved);
        total
    }
}

/// A job's running totals.
#[derive(Debug)]
pub struct Budgets {
    budget: Budget,
    spent: Mutex<BTreeMap<Account, Line>>,
}

impl Budgets {
    /// Totals as the record has them.
    #[must_use]
    pub fn rebuild(budget: Budget, spent: Vec<Spent>) -> Self {
        let mut totals: BTreeMap<Account, Line> = BTreeMap::new();
        for row in spent {
            let account = Account { agent: row.agent, date: row.date, detached: row.detached };
            totals.entry(account).or_default().used.add(Amount::of(&row.usage, Some(row.cost_usd)));
        }
        Self { budget, spent: Mutex::new(totals) }
    }

    /// Reserves an amount.
    ///
    /// # Errors
    /// A sentence that names the line that would be overdrawn, with its numbers.
    pub fn reserve(&self, account: &Account, amount: Amount) -> Result<(), String> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let total = |of: &dyn Fn(&Account) -> bool| {
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

    /// Sets aside a half of what the job's line leaves, under this account, and gives it.
    pub fn share(&self, account: &Account) -> Limit {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let mut total = Line::default();
        spent.iter().filter(|(account, _)| !account.detached).for_each(|(_, line)| total.add(*line));
        let left = total.total().left_of(self.budget.job);
        let half = Limit {
            tokens: left.tokens.map(|tokens| tokens / 2),
            usd: left.usd.map(|usd| usd / Decimal::TWO),
        };
        spent.entry(account.clone()).or_default().reserved.add(Amount::most(half));
        half
    }

    /// What an account has used and reserved so far.
    #[must_use]
    pub fn spent(&self, account: &Account) -> Amount {
        let spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.get(account).copied().unwrap_or_default().total()
    }

    /// Sets an amount aside that nobody has asked about, for it was set aside before.
    pub fn set_aside(&self, account: &Account, amount: Amount) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.entry(account.clone()).or_default().reserved.add(amount);
    }

    /// Puts what was really used in the place of what was reserved.
    pub fn settle(&self, account: &Account, reserved: Amount, used: Amount) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let line = spent.entry(account.clone()).or_default();
        line.reserved.take(reserved);
        line.used.add(used);
    }
}

fn check(name: &str, limit: Limit, spent: impl FnOnce() -> Line, next: Amount) -> Result<(), String> {
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

/// What is reserved for a request.
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

/// What an attempt is thought to have used whose provider reports nothing that can be: a token for every four
/// characters of the request and of the answer. One that failed after it was answered may have used what was
/// reserved for it; `None` for one that was not answered by a model at all.
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

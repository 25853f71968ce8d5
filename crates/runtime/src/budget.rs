//! Budgets in tokens and USD: per job, per agent and per day, plus a separate one for summaries. Reserved before
//! a call, settled after it, rebuilt from the record on resume.

use crate::overruns::Overrun;
use crate::sync::lock;
use papertape_core::id::AgentName;
use papertape_core::message::{FailureKind, ModelReply, ModelRequest, Usage};
use papertape_core::record::UsageTotal;
use papertape_core::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Mutex;

/// Output tokens reserved for a request without a limit.
const DEFAULT_OUTPUT_TOKENS: u64 = 2_048;
/// Approximate characters per token.
const CHARS_PER_TOKEN: u64 = 4;

pub use papertape_core::budget::{Grant, JobBudget, Limit, ShareRequest};

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

    /// Checks that every line allows any spending. Only summaries may have 0 tokens: a job can do without them.
    ///
    /// # Errors
    /// The limit, such as `job.usd`, and what is wrong with its value.
    pub fn check(&self) -> Result<(), String> {
        let summaries = Limit { tokens: None, ..self.summaries };
        let lines = [("job", self.job), ("agent", self.agent), ("day", self.day), ("summaries", summaries)];
        lines.into_iter().try_for_each(|(line, limit)| {
            limit.check().map_err(|(field, reason)| format!("{line}.{field}: {reason}"))
        })
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
    pub fn max_of(limit: Limit) -> Self {
        Self { tokens: limit.tokens.unwrap_or_default(), usd: limit.usd.unwrap_or_default() }
    }

    /// What a limit leaves after this amount; unlimited where the limit is.
    #[must_use]
    pub fn left_of(self, limit: Limit) -> Limit {
        Limit {
            tokens: limit.tokens.map(|max| max.saturating_sub(self.tokens)),
            usd: limit.usd.map(|max| (max - self.usd).max(Decimal::ZERO)),
        }
    }

    /// The same amount, as it is granted.
    #[must_use]
    pub const fn grant(self) -> Grant {
        Grant { tokens: self.tokens, usd: self.usd }
    }

    pub(crate) fn subtract(&mut self, other: Self) {
        self.tokens = self.tokens.saturating_sub(other.tokens);
        self.usd = self.usd.saturating_sub(other.usd);
    }
}

/// The usage of a line, and the amount reserved for calls and jobs in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LineTotal {
    used: Spend,
    reserved: Spend,
}

impl LineTotal {
    fn sum(self) -> Spend {
        let mut sum = self.used;
        sum.add(self.reserved);
        sum
    }
}

/// The sum of several lines. Tokens have room for any number of lines; where they are read, a sum stops at the largest
/// amount.
#[derive(Clone, Copy, Debug, Default)]
struct GroupTotal {
    used: u128,
    reserved: u128,
    used_usd: Decimal,
    reserved_usd: Decimal,
}

impl GroupTotal {
    fn replace(&mut self, before: LineTotal, after: LineTotal) {
        let tokens = |total: u128, before: Spend, after: Spend| {
            total - u128::from(before.tokens) + u128::from(after.tokens)
        };
        let usd = |total: Decimal, before: Spend, after: Spend| {
            total.saturating_sub(before.usd).saturating_add(after.usd)
        };
        self.used = tokens(self.used, before.used, after.used);
        self.reserved = tokens(self.reserved, before.reserved, after.reserved);
        self.used_usd = usd(self.used_usd, before.used, after.used);
        self.reserved_usd = usd(self.reserved_usd, before.reserved, after.reserved);
    }

    fn get(self) -> LineTotal {
        let tokens = |total: u128| u64::try_from(total).unwrap_or(u64::MAX);
        LineTotal {
            used: Spend { tokens: tokens(self.used), usd: self.used_usd },
            reserved: Spend { tokens: tokens(self.reserved), usd: self.reserved_usd },
        }
    }
}

/// The totals of a job's lines, and their sums: a call costs the same on the first day and after thousands.
#[derive(Debug, Default)]
struct Totals {
    lines: BTreeMap<BudgetLine, LineTotal>,
    /// All lines without summaries.
    job: GroupTotal,
    /// The same by agent.
    agents: BTreeMap<AgentName, GroupTotal>,
    /// All lines of summaries.
    summaries: GroupTotal,
}

impl Totals {
    /// Changes a line, and the sums that it is part of.
    fn change(&mut self, line: &BudgetLine, change: impl FnOnce(&mut LineTotal)) {
        let total = match self.lines.get_mut(line) {
            Some(total) => total,
            None => self.lines.entry(line.clone()).or_default(),
        };
        let before = *total;
        change(total);
        let after = *total;
        if line.detached {
            self.summaries.replace(before, after);
            return;
        }
        self.job.replace(before, after);
        match self.agents.get_mut(&line.agent) {
            Some(agent) => agent.replace(before, after),
            None => self.agents.entry(line.agent.clone()).or_default().replace(before, after),
        }
    }

    fn reserve(&mut self, line: &BudgetLine, amount: Spend) {
        self.change(line, |total| total.reserved.add(amount));
    }

    fn line(&self, line: &BudgetLine) -> LineTotal {
        self.lines.get(line).copied().unwrap_or_default()
    }

    fn agent(&self, agent: &AgentName) -> LineTotal {
        self.agents.get(agent).copied().unwrap_or_default().get()
    }
}

/// A job's running totals.
#[derive(Debug)]
pub struct Budgets {
    budget: Budget,
    totals: Mutex<Totals>,
    /// Of a job or part that shares limits with others: its shares of them.
    shares: Option<Mutex<Shares>>,
    /// What the calls of all that share these limits have used beyond their reservations.
    overrun: Option<Overrun>,
}

/// What a job or part may spend without requesting more. Unlimited where no shared limit is.
#[derive(Clone, Copy, Debug)]
struct Shares {
    sessions: Limit,
    summaries: Limit,
}

/// Why an amount cannot be reserved.
#[derive(Debug)]
pub enum Exceeded {
    /// A limit is reached: a message that names it, with its numbers.
    Limit(String),
    /// The share is used up: this is to be requested. Until the answer, the share is what is held.
    Share(ShareRequest),
}

impl Budgets {
    /// Restores totals from the record.
    #[must_use]
    pub fn rebuild(budget: Budget, usage: Vec<UsageTotal>) -> Self {
        let mut totals = Totals::default();
        for row in usage {
            let line = BudgetLine { agent: row.agent, date: row.date, detached: row.detached };
            totals.change(&line, |total| total.used.add(Spend::of(&row.usage, Some(row.cost_usd))));
        }
        Self { budget, totals: Mutex::new(totals), shares: None, overrun: None }
    }

    /// The same for a job or part that shares limits: those of its experiment, and if it is a part, those of its job. It
    /// needs a share before it spends anything. `overrun` is that of all that share them.
    #[must_use]
    pub fn sharing(self, experiment: Option<Limit>, is_part: bool, overrun: Overrun) -> Self {
        let none = |limits: &[Limit]| Limit {
            tokens: limits.iter().any(|limit| limit.tokens.is_some()).then_some(0),
            usd: limits.iter().any(|limit| limit.usd.is_some()).then_some(Decimal::ZERO),
        };
        let (job, summaries) = match is_part {
            true => (self.budget.job, self.budget.summaries),
            false => (Limit::default(), Limit::default()),
        };
        let sessions = none(&[experiment.unwrap_or_default(), job]);
        let shares = Shares { sessions, summaries: none(&[summaries]) };
        match experiment.is_some() || is_part {
            true => Self { shares: Some(Mutex::new(shares)), overrun: Some(overrun), ..self },
            false => self,
        }
    }

    /// What to reserve for a call that is estimated to use this amount. If calls have used more than their estimates, so may
    /// this one, and the same may happen at the same time in every job or part that shares the limit.
    #[must_use]
    pub fn expected(&self, mut amount: Spend) -> Spend {
        if let Some(overrun) = &self.overrun {
            let Grant { tokens, usd } = *lock(overrun);
            amount.add(Spend { tokens, usd });
        }
        amount
    }

    /// Replaces the share of a line. Requests must be made one after the other.
    pub fn set_share(&self, line: JobBudget, share: Limit) {
        if let Some(shares) = &self.shares {
            *lock(shares).of(line) = share;
        }
    }

    /// Whether the shares cover what is held and this amount.
    fn check_share(&self, totals: &Totals, line: &BudgetLine, amount: Spend) -> Result<(), Exceeded> {
        let Some(shares) = &self.shares else { return Ok(()) };
        let (line, job_limit, total) = match line.detached {
            false => (JobBudget::Sessions, self.budget.job, totals.job.get()),
            true => (JobBudget::Summaries, self.budget.summaries, totals.summaries.get()),
        };
        let (held, needed) = (total.sum().grant(), amount.grant());
        let mut shares = lock(shares);
        let share = shares.of(line);
        if held.and(needed).is_within(*share) {
            return Ok(());
        }
        // What is left of the share is not enough. It is given up, so that what is requested replaces it.
        *share = Limit {
            tokens: share.tokens.map(|tokens| tokens.min(held.tokens)),
            usd: share.usd.map(|usd| usd.min(held.usd)),
        };
        Err(Exceeded::Share(ShareRequest { line, held, needed, job_limit }))
    }

    /// Reserves an amount of a job that shares no limit.
    ///
    /// # Errors
    /// A message that names the exceeded limit, with its numbers.
    pub fn reserve(&self, line: &BudgetLine, amount: Spend) -> Result<(), String> {
        self.try_reserve(line, amount).map_err(|exceeded| match exceeded {
            Exceeded::Limit(message) => message,
            Exceeded::Share(request) => format!("the share does not cover {} tokens", request.needed.tokens),
        })
    }

    /// Reserves an amount.
    ///
    /// # Errors
    /// The exceeded limit, or that a larger share is needed.
    pub fn try_reserve(&self, line: &BudgetLine, amount: Spend) -> Result<(), Exceeded> {
        let mut totals = lock(&self.totals);
        let budget = &self.budget;
        if line.detached {
            check(|| "summaries".to_owned(), budget.summaries, || totals.summaries.get(), amount)?;
        } else {
            let (agent, date) = (&line.agent, line.date);
            check(|| "job".to_owned(), budget.job, || totals.job.get(), amount)?;
            check(|| format!("agent {agent}"), budget.agent, || totals.agent(agent), amount)?;
            check(|| format!("agent {agent} on {date}"), budget.day, || totals.line(line), amount)?;
        }
        self.check_share(&totals, line, amount)?;
        totals.reserve(line, amount);
        Ok(())
    }

    /// Reserves half of what is left of the job's limit under this line, and returns it.
    pub fn reserve_half(&self, line: &BudgetLine) -> Limit {
        let mut totals = lock(&self.totals);
        let left = totals.job.get().sum().left_of(self.budget.job);
        let half = Limit {
            tokens: left.tokens.map(|tokens| tokens / 2),
            usd: left.usd.map(|usd| usd / Decimal::TWO),
        };
        totals.reserve(line, Spend::max_of(half));
        half
    }

    /// Reserves an amount that was reserved before.
    pub fn reserve_unchecked(&self, line: &BudgetLine, amount: Spend) {
        lock(&self.totals).reserve(line, amount);
    }

    /// Replaces a reservation with the actual usage.
    pub fn settle(&self, line: &BudgetLine, reserved: Spend, used: Spend) {
        if let Some(overrun) = self.overrun.as_ref().filter(|_| reserved != Spend::default()) {
            let mut over = used;
            over.subtract(reserved);
            let mut overrun = lock(overrun);
            *overrun = overrun.max(over.grant());
        }
        lock(&self.totals).change(line, |total| {
            total.reserved.subtract(reserved);
            total.used.add(used);
        });
    }
}

fn check(
    name: impl FnOnce() -> String,
    limit: Limit,
    total: impl FnOnce() -> LineTotal,
    next: Spend,
) -> Result<(), Exceeded> {
    if limit == Limit::default() {
        return Ok(());
    }
    let total = total();
    let LineTotal { used, reserved } = total;
    let mut all = total.sum();
    all.add(next);
    if let Some(max) = limit.tokens.filter(|max| all.tokens > *max) {
        let (used, reserved) = (used.tokens, reserved.tokens);
        return Err(exceeded(&name(), "tokens", (used, reserved), (next.tokens, max)));
    }
    if let Some(max) = limit.usd.filter(|max| all.usd > *max) {
        let plain = |amount: Decimal| amount.round_dp(6).normalize();
        let (used, reserved) = (plain(used.usd), plain(reserved.usd));
        return Err(exceeded(&name(), "USD", (used, reserved), (plain(next.usd), max.normalize())));
    }
    Ok(())
}

/// Estimated input tokens of a request: its characters divided by four.
#[must_use]
pub fn estimated_input(request: &ModelRequest) -> u64 {
    reserved(request).input_tokens
}

/// Usage to reserve for a request.
pub(crate) fn reserved(request: &ModelRequest) -> Usage {
    let chars = |text: &str| text.len() as u64;
    let input = request.messages.iter().map(|message| chars(message.content())).sum::<u64>()
        + request.instructions.as_deref().map_or(0, chars);
    Usage {
        input_tokens: input / CHARS_PER_TOKEN,
        cached_tokens: 0,
        output_tokens: request.sampling.max_tokens.map_or(DEFAULT_OUTPUT_TOKENS, u64::from),
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

impl Shares {
    fn of(&mut self, line: JobBudget) -> &mut Limit {
        match line {
            JobBudget::Sessions => &mut self.sessions,
            JobBudget::Summaries => &mut self.summaries,
        }
    }
}

/// `job: 300 tokens used, 40 reserved by calls under way; the next call may need 20, the limit is 350`.
fn exceeded<T: Display + Default + PartialEq>(
    name: &str,
    unit: &str,
    (used, reserved): (T, T),
    (next, max): (T, T),
) -> Exceeded {
    let reserved = match reserved == T::default() {
        true => "none reserved".to_owned(),
        false => format!("{reserved} reserved by work under way"),
    };
    Exceeded::Limit(format!(
        "{name}: {used} {unit} used, {reserved}; the next call may need {next}, the limit is {max}"
    ))
}

//! Running totals of budgets equal the sum over all lines, whatever happened before.

use papertape_core::message::Usage;
use papertape_core::record::UsageTotal;
use papertape_core::time::Date;
use papertape_runtime::budget::{Budget, BudgetLine, Budgets, Limit, Spend};
use proptest::prelude::*;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Used and reserved amounts by line; every check sums all of them.
#[derive(Default)]
struct Summed {
    budget: Budget,
    lines: BTreeMap<BudgetLine, (Spend, Spend)>,
}

impl Summed {
    fn total(&self, is_included: impl Fn(&BudgetLine) -> bool) -> (Spend, Spend) {
        let mut total = (Spend::default(), Spend::default());
        for (_, (used, reserved)) in self.lines.iter().filter(|(line, _)| is_included(line)) {
            total.0.add(*used);
            total.1.add(*reserved);
        }
        total
    }

    fn reserve(&mut self, line: &BudgetLine, amount: Spend) -> Result<(), String> {
        let (agent, date) = (&line.agent, line.date);
        if line.detached {
            check("summaries", self.budget.summaries, self.total(|of| of.detached), amount)?;
        } else {
            let is_agents = |of: &BudgetLine| !of.detached && of.agent == *agent;
            check("job", self.budget.job, self.total(|of| !of.detached), amount)?;
            check(&format!("agent {agent}"), self.budget.agent, self.total(is_agents), amount)?;
            let name = format!("agent {agent} on {date}");
            check(&name, self.budget.day, self.total(|of| of == line), amount)?;
        }
        self.lines.entry(line.clone()).or_default().1.add(amount);
        Ok(())
    }

    fn reserve_half(&mut self, line: &BudgetLine) -> Limit {
        let (mut all, reserved) = self.total(|of| !of.detached);
        all.add(reserved);
        let left = all.left_of(self.budget.job);
        let half = Limit {
            tokens: left.tokens.map(|tokens| tokens / 2),
            usd: left.usd.map(|usd| usd / Decimal::TWO),
        };
        self.lines.entry(line.clone()).or_default().1.add(Spend::max_of(half));
        half
    }

    fn settle(&mut self, line: &BudgetLine, reserved: Spend, used: Spend) {
        let total = self.lines.entry(line.clone()).or_default();
        total.1.tokens = total.1.tokens.saturating_sub(reserved.tokens);
        total.1.usd -= reserved.usd;
        total.0.add(used);
    }
}

fn check(name: &str, limit: Limit, (used, reserved): (Spend, Spend), next: Spend) -> Result<(), String> {
    let mut all = used;
    all.add(reserved);
    all.add(next);
    let plain = |amount: Decimal| amount.round_dp(6).normalize();
    let (unit, used, reserved, next, max) = if let Some(max) = limit.tokens.filter(|max| all.tokens > *max) {
        ("tokens", used.tokens.into(), reserved.tokens.into(), next.tokens.into(), Decimal::from(max))
    } else if let Some(max) = limit.usd.filter(|max| all.usd > *max) {
        ("USD", plain(used.usd), plain(reserved.usd), plain(next.usd), max.normalize())
    } else {
        return Ok(());
    };
    let reserved = match reserved == Decimal::ZERO {
        true => "none reserved".to_owned(),
        false => format!("{reserved} reserved by work under way"),
    };
    Err(format!("{name}: {used} {unit} used, {reserved}; the next call may need {next}, the limit is {max}"))
}

#[derive(Clone, Debug)]
enum Step {
    Reserve(BudgetLine, Spend),
    ReserveUnchecked(BudgetLine, Spend),
    ReserveHalf(BudgetLine),
    Settle(BudgetLine, Spend, Spend),
}

fn line() -> impl Strategy<Value = BudgetLine> {
    (0..3_usize, 1..6_i8, prop::bool::weighted(0.2)).prop_map(|(agent, day, detached)| BudgetLine {
        agent: ["a", "b", "c"][agent].into(),
        date: Date::constant(2024, 1, day),
        detached,
    })
}

fn amount() -> impl Strategy<Value = Spend> {
    let tokens = prop_oneof![9 => 0..2_000_u64, 1 => Just(u64::MAX)];
    (tokens, 0..3_000_000_i64, 0..8_u32)
        .prop_map(|(tokens, usd, scale)| Spend { tokens, usd: Decimal::new(usd, scale) })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (line(), amount()).prop_map(|(line, amount)| Step::Reserve(line, amount)),
        1 => (line(), amount()).prop_map(|(line, amount)| Step::ReserveUnchecked(line, amount)),
        1 => line().prop_map(Step::ReserveHalf),
        4 => (line(), amount(), amount()).prop_map(|(line, one, two)| Step::Settle(line, one, two)),
    ]
}

fn limit() -> impl Strategy<Value = Limit> {
    let tokens = prop::option::of(prop_oneof![0..30_000_u64, Just(u64::MAX - 1)]);
    (tokens, prop::option::of(0..90_000_i64))
        .prop_map(|(tokens, usd)| Limit { tokens, usd: usd.map(|usd| Decimal::new(usd, 2)) })
}

fn budget() -> impl Strategy<Value = Budget> {
    (limit(), limit(), limit(), limit()).prop_map(|(job, agent, day, summaries)| Budget {
        job,
        agent,
        day,
        summaries,
    })
}

proptest! {
    // Goal: whatever was reserved, settled and rebuilt, the next reservation is allowed or rejected, with the same
    // message, as if all lines were summed for it.
    #[test]
    fn running_totals_are_the_sums_of_all_lines(
        budget in budget(),
        recorded in prop::collection::vec((line(), amount()), 0..8),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut summed = Summed { budget, ..Summed::default() };
        let mut rows = Vec::new();
        for (line, used) in recorded {
            let usage = Usage { input_tokens: used.tokens, cached_tokens: 0, output_tokens: 0 };
            rows.push(UsageTotal {
                agent: line.agent.clone(),
                date: line.date,
                detached: line.detached,
                usage,
                cost_usd: used.usd,
                estimated_calls: 0,
                unpriced_calls: 0,
            });
            summed.settle(&line, Spend::default(), used);
        }
        let budgets = Budgets::rebuild(budget, rows);
        for step in steps {
            match step {
                Step::Reserve(line, amount) => {
                    prop_assert_eq!(budgets.reserve(&line, amount), summed.reserve(&line, amount));
                }
                Step::ReserveUnchecked(line, amount) => {
                    budgets.reserve_unchecked(&line, amount);
                    summed.lines.entry(line).or_default().1.add(amount);
                }
                Step::ReserveHalf(line) => {
                    let (one, two) = (budgets.reserve_half(&line), summed.reserve_half(&line));
                    prop_assert_eq!(one, two);
                    // The amount is stored, so its spelling counts too.
                    let spelled = |limit: Limit| limit.usd.map(|usd| usd.to_string());
                    prop_assert_eq!(spelled(one), spelled(two));
                }
                Step::Settle(line, reserved, used) => {
                    budgets.settle(&line, reserved, used);
                    summed.settle(&line, reserved, used);
                }
            }
        }
    }
}

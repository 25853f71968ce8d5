//! A branch compared with its parent: the first step that differs, the text that differs, and the orders day by day.

use super::estimate::Estimate;
use super::items::{Item, Kind};
use crate::app::App;
use crate::error::ServiceError;
use crate::view::results::{AgentSeries, sessions};
use crate::view::{Configs, masked};
use papertape_core::id::JobId;
use papertape_core::market::Masking;
use papertape_core::record::SessionId;
use papertape_core::tape::StepClass;
use papertape_core::time::Date;
use papertape_evidence::TrialPanel;
use papertape_protocol::compare::branch::{BranchComparison, DecisionDifference, StepDifference};
use papertape_protocol::number::number;
use papertape_runtime::config::{Branch, SimulationConfig};
use papertape_store::{MessageView, PageRequest, SessionResult, StepView};
use std::collections::BTreeMap;

/// The maximum number of listed days.
const MAX_DAYS: usize = 60;
/// The maximum number of lines of a diff.
const MAX_LINES: usize = 200;
/// Longer texts are compared up to this many lines.
const MAX_COMPARED: usize = 1_000;
const PAGE: u32 = 1_000;

/// A branch and its parent, if the items are such a pair.
pub(super) async fn branch(
    app: &App,
    configs: &mut Configs,
    items: &[Item],
) -> Result<Option<BranchComparison>, ServiceError> {
    let agents: Vec<&Item> = items.iter().filter(|item| item.kind == Kind::Agent).collect();
    let [one, two] = agents.as_slice() else { return Ok(None) };
    let (Some(first), Some(second)) = (series(one), series(two)) else { return Ok(None) };
    for (parent, child) in [(first, second), (second, first)] {
        let config = configs.of(app, &child.job).await?.cloned();
        let Some(mut cut) = config.as_ref().and_then(|config| config.branch.clone()) else { continue };
        if cut.job == parent.job && parent.agent == child.agent {
            cut.date = masked::real_date(config.as_ref(), cut.date);
            let masking = config.as_ref().and_then(SimulationConfig::translation);
            return compared(app, (parent, child), (&cut, masking), one.trading_days_per_year)
                .await
                .map(Some);
        }
    }
    Ok(None)
}

fn series(item: &Item) -> Option<&AgentSeries> {
    match item.trials.as_slice() {
        [only] => only.series.as_ref(),
        _ => None,
    }
}

async fn compared(
    app: &App,
    (parent, child): (&AgentSeries, &AgentSeries),
    (cut, masking): (&Branch, Option<&Masking>),
    year: f64,
) -> Result<BranchComparison, ServiceError> {
    let days = |series: &AgentSeries| -> BTreeMap<Date, (SessionId, JobId)> {
        let from = series.days.iter().filter(|day| day.date >= cut.date);
        from.map(|day| (day.date, (day.closed.id, day.closed.job.clone()))).collect()
    };
    let (of_parent, of_child) = (days(parent), days(child));
    let shared: Vec<Date> = of_parent.keys().filter(|day| of_child.contains_key(day)).copied().collect();
    let mut first_difference = None;
    for day in &shared {
        let ((a, _), (b, _)) = (&of_parent[day], &of_child[day]);
        if let Some(found) = step_difference(app, *day, (*a, *b)).await? {
            first_difference = Some(found);
            break;
        }
    }
    let decided_by_parent = decided(app, parent, &of_parent, masking).await?;
    let decided_by_child = decided(app, child, &of_child, masking).await?;
    let value = |series: &AgentSeries, day: Date| {
        series.days.iter().find(|one| one.date == day).map(|one| one.value.0)
    };
    let mut decisions = Vec::new();
    for day in &shared {
        let of = |decided: &BTreeMap<Date, Vec<String>>| decided.get(day).cloned().unwrap_or_default();
        let (parent_orders, branch_orders) = (of(&decided_by_parent), of(&decided_by_child));
        if parent_orders != branch_orders {
            let difference = value(child, *day).unwrap_or_default() - value(parent, *day).unwrap_or_default();
            decisions.push(DecisionDifference {
                date: *day,
                parent: parent_orders,
                branch: branch_orders,
                value_difference: number(difference),
            });
        }
    }
    let different_days = decisions.len();
    decisions.truncate(MAX_DAYS);
    Ok(BranchComparison {
        parent: parent.job.to_string(),
        branch: child.job.to_string(),
        agent: child.agent.to_string(),
        date: cut.date,
        at: cut.at.clone(),
        first_difference,
        decisions,
        different_days,
        days: shared.len(),
        difference: since_cut((parent, child), cut.date).map(|found| found.response(year)),
    })
}

/// The branch minus its parent, from the cut on.
fn since_cut((parent, child): (&AgentSeries, &AgentSeries), cut: Date) -> Option<Estimate> {
    let of = |series: &AgentSeries| -> BTreeMap<Date, f64> {
        let mut before = series.initial.to_f64();
        let mut all = BTreeMap::new();
        for day in &series.days {
            let value = day.value.to_f64();
            if before <= 0.0 || value <= 0.0 {
                break;
            }
            all.insert(day.date, (value / before).ln());
            before = value;
        }
        all
    };
    let (of_parent, of_child) = (of(parent), of(child));
    let days: Vec<Date> =
        of_child.range(cut..).map(|(day, _)| *day).filter(|day| of_parent.contains_key(day)).collect();
    let pick = |all: &BTreeMap<Date, f64>| vec![days.iter().map(|day| all[day]).collect::<Vec<f64>>()];
    let (a, b) = (pick(&of_child), pick(&of_parent));
    Estimate::of(&[TrialPanel { days, a, b }])
}

/// By day: fills and rejected orders, in words.
async fn decided(
    app: &App,
    series: &AgentSeries,
    days: &BTreeMap<Date, (SessionId, JobId)>,
    masking: Option<&Masking>,
) -> Result<BTreeMap<Date, Vec<String>>, ServiceError> {
    let own = |date: Date| masking.map_or(date, |masking| masking.masked_date(date));
    let real = |text: String| masking.map_or_else(|| text.clone(), |masking| masking.real_text(&text));
    let mut by_job: BTreeMap<&JobId, Vec<Date>> = BTreeMap::new();
    for (day, (_, job)) in days {
        by_job.entry(job).or_default().push(own(*day));
    }
    let mut all = BTreeMap::new();
    for (job, dates) in by_job {
        let span = (dates.first().copied(), dates.last().copied());
        for session in sessions(app, (&series.agent, job), span).await? {
            let date = masking.map_or(session.date, |masking| masking.real_date(session.date));
            all.insert(date, orders(&session).into_iter().map(real).collect());
        }
    }
    Ok(all)
}

fn orders(session: &SessionResult) -> Vec<String> {
    let order = |order: &papertape_core::record::OrderRow| {
        let (side, quantity, symbol) = (&order.side, order.quantity, &order.symbol);
        match order.status.as_str() {
            "filled" => format!("{side} {quantity} {symbol}"),
            status => format!("{side} {quantity} {symbol}: {}", order.code.as_deref().unwrap_or(status)),
        }
    };
    session.orders.iter().map(order).collect()
}

/// The first step of a day that differs, in its request or otherwise in its outcome.
async fn step_difference(
    app: &App,
    date: Date,
    (parent, child): (SessionId, SessionId),
) -> Result<Option<StepDifference>, ServiceError> {
    let (of_parent, of_child) = (steps(app, parent).await?, steps(app, child).await?);
    let by_path: BTreeMap<String, &StepView> =
        of_parent.iter().map(|step| (step.path.to_string(), step)).collect();
    let differs = |step: &StepView| match by_path.get(&step.path.to_string()) {
        None => Some("missing"),
        Some(other) if other.digest != step.digest => Some("request"),
        Some(other) if other.outcome_ref != step.outcome_ref => Some("response"),
        Some(_) => None,
    };
    let mut found = of_child.iter().find_map(|step| Some((step.path.to_string(), differs(step)?)));
    if found.is_none() && of_child.len() < of_parent.len() {
        let has = |path: &str| of_child.iter().any(|step| step.path.to_string() == path);
        let missing = of_parent.iter().map(|step| step.path.to_string()).find(|path| !has(path));
        found = missing.map(|path| (path, "missing"));
    }
    let Some((path, differs)) = found else { return Ok(None) };
    let (before, after) = (messages(app, parent).await?, messages(app, child).await?);
    let at =
        before.iter().zip(&after).take_while(|(a, b)| a.content == b.content && a.node == b.node).count();
    let text = |all: &[MessageView]| all.get(at).map(|message| message.content.clone()).unwrap_or_default();
    let (mut diff, mut is_truncated) = line_diff(&text(&before), &text(&after));
    is_truncated |= diff.len() > MAX_LINES;
    diff.truncate(MAX_LINES);
    Ok(Some(StepDifference { date, path, differs: differs.to_owned(), diff, is_truncated }))
}

/// The external steps of a session without those of summaries, in the order in which they started.
async fn steps(app: &App, session: SessionId) -> Result<Vec<StepView>, ServiceError> {
    let (mut all, mut request) = (Vec::new(), PageRequest::first(PAGE));
    loop {
        let page = app.store.steps(session, &request).await?;
        let own = |step: &StepView| !step.detached && step.class == StepClass::External;
        all.extend(page.items.into_iter().filter(own));
        match page.next {
            Some(next) => request = PageRequest::after(PAGE, &next),
            None => return Ok(all),
        }
    }
}

async fn messages(app: &App, session: SessionId) -> Result<Vec<MessageView>, ServiceError> {
    let (mut all, mut request) = (Vec::new(), PageRequest::first(PAGE));
    loop {
        let Some(page) = app.store.conversation(session, None, 0, &request).await? else { return Ok(all) };
        all.extend(page.messages.items);
        match page.messages.next {
            Some(next) => request = PageRequest::after(PAGE, &next),
            None => return Ok(all),
        }
    }
}

/// A line diff of both texts: `-` for the first, `+` for the second, a space for both; and whether only a part was
/// compared.
fn line_diff(before: &str, after: &str) -> (Vec<String>, bool) {
    let lines = |text: &str| text.lines().take(MAX_COMPARED).map(str::to_owned).collect::<Vec<_>>();
    let (a, b) = (lines(before), lines(after));
    let is_cut = before.lines().nth(MAX_COMPARED).is_some() || after.lines().nth(MAX_COMPARED).is_some();
    // Lengths of the longest common subsequences of the remaining lines.
    let mut common = vec![vec![0_u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] =
                if a[i] == b[j] { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut diff) = (0, 0, Vec::new());
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            diff.push(format!(" {}", a[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < a.len() && (j == b.len() || common[i + 1][j] >= common[i][j + 1]) {
            diff.push(format!("-{}", a[i]));
            i += 1;
        } else {
            diff.push(format!("+{}", b[j]));
            j += 1;
        }
    }
    (diff, is_cut)
}

#[cfg(test)]
mod tests {
    use super::line_diff;

    /// Goal: what both have is shown once, and each side's own lines with their sign, in order.
    #[test]
    fn a_diff_has_the_lines_of_each_side() {
        let (diff, is_cut) = line_diff("one\ntwo\nthree", "one\n2\nthree\nfour");
        assert_eq!(
            (diff, is_cut),
            (vec![" one", "-two", "+2", " three", "+four"].into_iter().map(str::to_owned).collect(), false)
        );
        assert_eq!(line_diff("", "").0, Vec::<String>::new());
        assert!(line_diff(&"x\n".repeat(1_001), "").1);
    }
}

//! Old reflections folded, one archive per trader: a trader is an agent with the jobs in which its memory has
//! its history.

use super::{archives, filter};
use crate::app::App;
use crate::error::ServiceError;
use crate::view::Configs;
use jiff::tz::TimeZone;
use papertape_agents::memory::periods::{Period, fold};
use papertape_core::id::{AgentName, JobId};
use papertape_core::json::to_value;
use papertape_core::record::ReflectionRow;
use papertape_core::time::Date;
use papertape_protocol::memory::ArchivesResponse;
use papertape_protocol::memory::{CompactBody, PeriodBody};
use papertape_store::{ArchiveRow, MemoryFilter, PageRequest, TradeFilter};
use std::collections::{BTreeMap, BTreeSet};

/// Reflections are read by so many when they are folded.
const FOLD_PAGE: u32 = 500;

type Trader = (JobId, AgentName);

/// A job that a trader's memory comes from.
struct Earlier {
    job: JobId,
    /// The last day that counts of it.
    until: Date,
    /// Does the trader continue it, books and all, rather than have only its memory from it?
    is_continued: bool,
}

/// Folds reflections that are older than the period of each trader's newest one. A trader that continues
/// another job, or has its memory from one, brings what it had learnt there until then. Its archive is stored
/// under its newest job, in the place of those under the jobs that it continues. The originals stay. Folding
/// again changes nothing.
///
/// # Errors
/// A database error.
pub async fn memory_compact(app: &App, body: &CompactBody) -> Result<ArchivesResponse, ServiceError> {
    let of = filter(body.model.as_ref(), body.job_id.as_deref())?;
    let period = match body.period {
        PeriodBody::Quarter => Period::Quarter,
        PeriodBody::HalfYear => Period::HalfYear,
    };
    let mut lineages = Lineages { app, configs: Configs::default(), read: BTreeMap::new() };
    let traders = lineages.traders(&of).await?;
    let mut before: BTreeMap<Trader, Vec<Earlier>> = BTreeMap::new();
    for trader in traders {
        let earlier = lineages.earlier(&trader).await?;
        before.insert(trader, earlier);
    }
    // Whom another one continues is a part of that one.
    let mut continued: BTreeSet<Trader> = BTreeSet::new();
    for ((_, agent), earlier) in &before {
        let is_continued = earlier.iter().filter(|earlier| earlier.is_continued);
        continued.extend(is_continued.map(|earlier| (earlier.job.clone(), agent.clone())));
    }
    let (mut replaced, mut rows) = (Vec::new(), Vec::new());
    for ((job, agent), earlier) in &before {
        if continued.contains(&(job.clone(), agent.clone())) {
            continue;
        }
        let mut trades = lineages.reflections(&(job.clone(), agent.clone())).await?;
        for Earlier { job, until, .. } in earlier {
            let known = lineages.reflections(&(job.clone(), agent.clone())).await?;
            trades.extend(known.into_iter().filter(|row| exit_day(row) <= *until));
        }
        trades.sort_by_key(|row| (row.exit_time, row.trade_id));
        let Some(newest) = trades.last().map(exit_day) else { continue };
        let continues = earlier.iter().filter(|earlier| earlier.is_continued).map(|earlier| &earlier.job);
        let jobs = std::iter::once(job).chain(continues);
        replaced.extend(jobs.map(|job| (job.clone(), agent.clone(), period.as_str().to_owned())));
        rows.extend(fold(period, &trades, newest).into_iter().map(|folded| ArchiveRow {
            job: job.clone(),
            agent: agent.clone(),
            length: period.as_str().to_owned(),
            period: folded.period.clone(),
            symbol: folded.symbol.clone(),
            body: to_value(&folded),
        }));
    }
    app.store.store_archives(replaced, rows.clone()).await?;
    Ok(archives(app, rows, None))
}

fn exit_day(row: &ReflectionRow) -> Date {
    row.exit_time.to_zoned(TimeZone::UTC).date()
}

/// Traders and what they have learnt, each job read once.
struct Lineages<'a> {
    app: &'a App,
    configs: Configs,
    read: BTreeMap<Trader, Vec<ReflectionRow>>,
}

impl Lineages<'_> {
    /// The traders of a filter: those of its job, or all that have reflections.
    async fn traders(&mut self, of: &MemoryFilter) -> Result<BTreeSet<Trader>, ServiceError> {
        let mut found: BTreeMap<Trader, Vec<ReflectionRow>> = BTreeMap::new();
        let filter = TradeFilter { of: of.clone(), ..TradeFilter::default() };
        for (job, agent, row) in all(self.app, &filter).await? {
            found.entry((job, agent)).or_default().push(row);
        }
        let mut traders: BTreeSet<Trader> = found.keys().cloned().collect();
        if let Some(job) = &of.job
            && let Some(config) = self.configs.of(self.app, job).await?
        {
            let is_wanted = |agent: &&AgentName| of.agent.as_ref().is_none_or(|wanted| wanted == *agent);
            let names = config.agents.iter().map(|agent| &agent.name).filter(is_wanted);
            traders.extend(names.map(|agent| (job.clone(), agent.clone())));
        }
        self.read.extend(found);
        Ok(traders)
    }

    /// The jobs that a trader's memory comes from, the newest first.
    async fn earlier(&mut self, (job, agent): &Trader) -> Result<Vec<Earlier>, ServiceError> {
        let mut found: Vec<Earlier> = Vec::new();
        let mut at = job.clone();
        let mut until = Date::MAX;
        let mut is_continued = true;
        while let Some(config) = self.configs.of(self.app, &at).await? {
            let continued = config.continues.get(agent).map(|before| (before.job.clone(), before.date));
            let learnt = || {
                let first = config.start_date.yesterday().ok()?;
                config.memory_from.clone().map(|job| (job, first))
            };
            is_continued &= continued.is_some();
            let Some((before, last)) = continued.or_else(learnt) else { break };
            until = until.min(last);
            if before == *job || found.iter().any(|earlier| earlier.job == before) {
                break;
            }
            found.push(Earlier { job: before.clone(), until, is_continued });
            at = before;
        }
        Ok(found)
    }

    /// What an agent has learnt in a job.
    async fn reflections(&mut self, trader: &Trader) -> Result<Vec<ReflectionRow>, ServiceError> {
        if let Some(known) = self.read.get(trader) {
            return Ok(known.clone());
        }
        let of = MemoryFilter { job: Some(trader.0.clone()), agent: Some(trader.1.clone()) };
        let filter = TradeFilter { of, ..TradeFilter::default() };
        let rows: Vec<ReflectionRow> =
            all(self.app, &filter).await?.into_iter().map(|(.., row)| row).collect();
        self.read.insert(trader.clone(), rows.clone());
        Ok(rows)
    }
}

/// All reflections of a filter.
async fn all(
    app: &App,
    filter: &TradeFilter,
) -> Result<Vec<(JobId, AgentName, ReflectionRow)>, ServiceError> {
    let mut rows = Vec::new();
    let mut page = PageRequest::first(FOLD_PAGE);
    loop {
        let found = app.store.memory_trades(filter, &page).await?;
        rows.extend(found.items.into_iter().map(|item| (item.job, item.agent, item.row)));
        match found.next {
            Some(cursor) => page = PageRequest::after(FOLD_PAGE, &cursor),
            None => return Ok(rows),
        }
    }
}

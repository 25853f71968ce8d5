//! Which sessions read a bar, a news item, a value or a memory.

use super::bars::{open_dataset, symbol_of};
use super::{Configs, page, plain};
use crate::app::App;
use crate::error::ServiceError;
use crate::view::deployment;
use jiff::tz::TimeZone;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::market::{Dataset, Fundamental, GENERAL_NEWS, MacroPoint, News, Published};
use papertape_core::record::{ExposureRow, MemoryKind};
use papertape_core::time::{Date, Timestamp};
use papertape_protocol::exposures::{SeenByKind, SeenByQuery, SeenByRead, SeenByResponse, SeenBySession};
use papertape_store::{
    ExposurePredicate, GivenFilter, Page, PageRequest, ShownFilter, ShownRead, ShownSession,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many stored pages are scanned for one page of a response: news are filtered.
const MAX_LOOKS: usize = 8;

/// The sessions whose agent read the item. Reads by the books (marks, stops) do not
/// count.
///
/// # Errors
/// A missing or superfluous field; no such item in the
/// dataset; a database error.
pub async fn seen_by(app: &App, query: &SeenByQuery) -> Result<SeenByResponse, ServiceError> {
    let asked = ItemQuery::of(query)?;
    let mut request = page(query.limit, query.cursor.clone())?;
    let wanted = if request.limit == 0 { 50 } else { request.limit } as usize;
    let (dataset, filter) = match asked {
        ItemQuery::Memory(filter) => {
            let Page { items, next } = app.store.given_to(&filter, &request).await?;
            return answer(app, query.kind, None, items, next).await;
        }
        ItemQuery::Data => sought(app, query)?,
    };
    let mut found = Vec::new();
    let mut looks = 0;
    let next = loop {
        request.limit = u32::try_from(wanted - found.len()).unwrap_or(1);
        let Page { items, next } = app.store.shown_to(&filter, &request).await?;
        found.extend(items);
        looks += 1;
        match next {
            Some(cursor) if found.len() < wanted && looks < MAX_LOOKS => {
                request = PageRequest::after(request.limit, &cursor);
            }
            next => break next,
        }
    };
    answer(app, query.kind, Some(dataset), found, next).await
}

/// The item, with the required fields of its kind.
enum ItemQuery {
    Data,
    Memory(GivenFilter),
}

impl ItemQuery {
    fn of(query: &SeenByQuery) -> Result<Self, ServiceError> {
        let fields: [(&'static str, bool, &[SeenByKind]); 9] = {
            use SeenByKind::{Bar, Fundamental, Macro, News, OpenPositionContext, Trade, TraderRound};
            [
                ("dataset", query.dataset.is_some(), &[Bar, News, Fundamental, Macro]),
                ("symbol", query.symbol.is_some(), &[Bar, Fundamental]),
                ("from", query.from.is_some(), &[Bar]),
                ("to", query.to.is_some(), &[Bar]),
                ("news_id", query.news_id.is_some(), &[News]),
                ("metric", query.metric.is_some(), &[Fundamental]),
                ("series", query.series.is_some(), &[Macro]),
                ("period", query.period.is_some(), &[Fundamental, Macro]),
                ("memory_id", query.memory_id.is_some(), &[TraderRound, OpenPositionContext, Trade]),
            ]
        };
        for (field, is_given, kinds) in fields {
            let belongs = kinds.contains(&query.kind);
            if is_given && !belongs {
                return Err(ServiceError::invalid(field, "not allowed for this kind"));
            }
            if !is_given && belongs && field != "to" {
                return Err(ServiceError::invalid(field, "it is missing"));
            }
        }
        if query.published_at.is_some() && !matches!(query.kind, SeenByKind::Fundamental | SeenByKind::Macro)
        {
            return Err(ServiceError::invalid("published_at", "not allowed for this kind"));
        }
        let kind = match query.kind {
            SeenByKind::Bar | SeenByKind::News | SeenByKind::Fundamental | SeenByKind::Macro => {
                return Ok(Self::Data);
            }
            SeenByKind::TraderRound => MemoryKind::TraderRound,
            SeenByKind::OpenPositionContext => MemoryKind::OpenPositionContext,
            SeenByKind::Trade => MemoryKind::Trade,
        };
        let needed = |field, text: Option<&String>| {
            let text = plain(field, text)?.map(str::to_owned);
            text.ok_or_else(|| ServiceError::invalid(field, "required for a memory"))
        };
        Ok(Self::Memory(GivenFilter {
            kind,
            memory_id: needed("memory_id", query.memory_id.as_ref())?,
            job: JobId::from(needed("job_id", query.job_id.as_ref())?),
            agent: AgentName::from(needed("model", query.model.as_ref())?),
        }))
    }
}

/// Where market data is in the table of data reads.
fn sought(app: &App, query: &SeenByQuery) -> Result<(Arc<Dataset>, ShownFilter), ServiceError> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let dataset = open_dataset(app, "dataset", &text(&query.dataset))?;
    let job = plain("job_id", query.job_id.as_ref())?.map(JobId::from);
    let agent = plain("model", query.model.as_ref())?.map(AgentName::from);
    let filter = |series: Vec<String>, (from, to): (Date, Date)| ShownFilter {
        dataset: dataset.hash(),
        series,
        from,
        to,
        known_from: None,
        known_before: None,
        job: job.clone(),
        agent: agent.clone(),
        shows: None,
    };
    let filter = match query.kind {
        SeenByKind::News => {
            let (at, item) = news_item(&dataset, &text(&query.news_id))?;
            let day = local_day(&dataset, item.published_at);
            let about = item.item.symbols.iter().map(|symbol| format!("{symbol}/news"));
            let general = item.item.symbols.is_empty().then(|| GENERAL_NEWS.to_owned());
            let series = std::iter::once("news".to_owned()).chain(general).chain(about).collect();
            let known_from = Some(item.published_at);
            let shows = Some(shows_news(Arc::clone(&dataset), at));
            ShownFilter { known_from, shows, ..filter(series, (day, day)) }
        }
        SeenByKind::Fundamental => {
            let symbol = symbol_of(&dataset, &text(&query.symbol))?;
            let metric = text(&query.metric);
            let is_it = |figure: &&Published<Fundamental>| {
                let item = &figure.item;
                item.symbol == symbol && item.metric == metric && Some(item.period_end) == query.period
            };
            let contents = dataset.contents();
            let published = contents.fundamentals().filter(is_it).map(|one| one.published_at).collect();
            let version = version(published, query.published_at)?;
            let series = vec![format!("{symbol}/fundamentals")];
            version.narrow(&dataset, |days| filter(series, days))
        }
        SeenByKind::Macro => {
            let series = text(&query.series);
            let is_it = |point: &&Published<MacroPoint>| {
                point.item.series == series && Some(point.item.period) == query.period
            };
            let contents = dataset.contents();
            let published = contents.macros().filter(is_it).map(|one| one.published_at).collect();
            let version = version(published, query.published_at)?;
            version.narrow(&dataset, |days| filter(vec![format!("macro/{series}")], days))
        }
        _ => {
            let symbol = symbol_of(&dataset, &text(&query.symbol))?;
            let from = query.from.unwrap_or_default();
            let to = query.to.unwrap_or(from);
            if to < from {
                return Err(ServiceError::invalid("to", format!("{to} is before {from}")));
            }
            let contents = dataset.contents();
            let within = contents.intraday_bars(&symbol);
            let within: Vec<String> = within.map(|(length, _)| format!("{symbol}/bars/{length}")).collect();
            let series = [format!("{symbol}/bars"), format!("{symbol}/open")].into_iter().chain(within);
            filter(series.collect(), (from, to))
        }
    };
    Ok((dataset, filter))
}

fn news_item<'a>(dataset: &'a Dataset, id: &str) -> Result<(usize, &'a Published<News>), ServiceError> {
    let mut items = dataset.contents().news().iter().enumerate();
    items.find(|(_, one)| one.item.id == id).ok_or_else(|| {
        let (name, id) = (dataset.name(), id.escape_default());
        ServiceError::NotFound(format!("the dataset {name} has no news item {id}"))
    })
}

/// A read of news returns the newest items of its series at its instant. The record has their number and the
/// publication of the newest one, which determine whether this item was among them.
fn shows_news(dataset: Arc<Dataset>, at: usize) -> ExposurePredicate {
    Arc::new(move |row: &ExposureRow| {
        let news = dataset.contents().news();
        let Some(latest) = row.latest_known_at else { return false };
        let end = news.partition_point(|one| one.published_at <= latest);
        let about = row.series.strip_suffix("/news");
        let is_about = |one: &&Published<News>| {
            if row.series == GENERAL_NEWS {
                return one.item.symbols.is_empty();
            }
            about.is_none_or(|symbol| one.item.symbols.iter().any(|other| other.as_str() == symbol))
        };
        let most = usize::try_from(row.rows).unwrap_or(usize::MAX);
        let newer =
            news.get(at..end).unwrap_or_default().iter().filter(is_about).take(most.saturating_add(1));
        (1..=most).contains(&newer.count())
    })
}

/// When a published value was in effect.
struct Version {
    published_at: Timestamp,
    /// When it was published again; `None`: never, or any version is requested.
    until: Option<Timestamp>,
    is_any: bool,
}

impl Version {
    fn narrow(&self, dataset: &Dataset, filter: impl FnOnce((Date, Date)) -> ShownFilter) -> ShownFilter {
        let day = local_day(dataset, self.published_at);
        // For any version, reads may be later than the day of its publication.
        let days = if self.is_any { (day, Date::MAX) } else { (day, day) };
        ShownFilter { known_from: Some(self.published_at), known_before: self.until, ..filter(days) }
    }
}

/// The version of a value that was published at an instant, or all of them.
fn version(mut published: Vec<Timestamp>, at: Option<Timestamp>) -> Result<Version, ServiceError> {
    published.sort_unstable();
    let none =
        || ServiceError::NotFound("the dataset has no such value; check its name and period".to_owned());
    let Some(at) = at else {
        let published_at = *published.first().ok_or_else(none)?;
        return Ok(Version { published_at, until: None, is_any: true });
    };
    let place = published.iter().position(|one| *one == at).ok_or_else(none)?;
    let until = published.get(place + 1).copied();
    Ok(Version { published_at: at, until, is_any: false })
}

/// The exchange's date of an instant, as the record has it.
fn local_day(dataset: &Dataset, at: Timestamp) -> Date {
    let zone = TimeZone::get(dataset.zone()).unwrap_or(TimeZone::UTC);
    at.to_zoned(zone).date()
}

async fn answer(
    app: &App,
    kind: SeenByKind,
    dataset: Option<Arc<Dataset>>,
    found: Vec<ShownSession>,
    next_cursor: Option<String>,
) -> Result<SeenByResponse, ServiceError> {
    let mut configs = Configs::default();
    let mut opened: BTreeMap<ContentHash, Option<Arc<Dataset>>> = BTreeMap::new();
    let mut sessions = Vec::with_capacity(found.len());
    for one in found {
        let is_llm = configs.is_llm(app, &one.job, &one.agent).await?;
        let traded = configs.of(app, &one.job).await?.map(|config| config.dataset.hash);
        let calendar = traded.and_then(|hash| {
            opened.entry(hash).or_insert_with(|| app.catalogue.open(&hash.to_hex()).ok()).as_ref()
        });
        let instant = calendar.and_then(|dataset| dataset.day(one.date)).map(|day| day.open);
        sessions.push(SeenBySession {
            session_id: one.session.0,
            job_id: one.job.to_string(),
            date: one.date,
            model: one.agent.to_string(),
            is_llm,
            status: one.status,
            instant,
            reads: one.reads.into_iter().map(read).collect(),
            read_count: one.read_count,
        });
    }
    Ok(SeenByResponse {
        kind,
        dataset: dataset.map(|dataset| dataset.hash().to_hex()),
        count: sessions.len(),
        sessions,
        next_cursor,
        deployment: deployment(app),
    })
}

fn read(read: ShownRead) -> SeenByRead {
    let shown = read.shown;
    SeenByRead {
        node: read.path.node().to_owned(),
        path: read.path.to_string(),
        message_index: read.message_index,
        tool: read.tool,
        first_date: shown.as_ref().and_then(|row| row.first),
        last_date: shown.as_ref().and_then(|row| row.last),
        rows: shown.as_ref().map(|row| row.rows),
        series: shown.map(|row| row.series),
        known_at: read.known_at,
    }
}

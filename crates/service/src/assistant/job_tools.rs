//! What the assistant sees of simulations: the API's requests and views, in short form.

use super::decisions;
use super::runs::{Run, percent};
use crate::app::App;
use crate::trigger::{self, TriggerError};
use crate::view::{self, MemoryQuery, ReasoningQuery, SearchBy, TradesQuery, ViewError, number};
use futures::FutureExt as _;
use papertape_assistant::actions;
use papertape_core::RULES_VERSION;
use papertape_core::id::{JobId, Symbol};
use papertape_core::language::Language;
use papertape_core::market::BarRange;
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::{BoxFuture, JobControl, JobTool, Queue as _, RecordStore as _, ToolCaller};
use papertape_core::time::{Date, Timestamp, parse_date};
use papertape_runtime::budget::Budget;
use papertape_runtime::replay;
use papertape_runtime::worker::SIMULATE;
use papertape_store::{JobFilter, PageRequest};
use serde_json::{Value, json};

/// Sessions whose data reads an audit checks.
const AUDITED: usize = 400;
/// Messages of a day: default and maximum.
const MESSAGES: u32 = 20;
/// Bars: default and maximum.
const BARS: usize = 60;
const MAX_BARS: usize = 500;

/// The jobs of this product, as the assistant's actions see them.
pub(super) struct JobToolbox(pub(super) App);

impl JobControl for JobToolbox {
    fn parameters(&self, tool: JobTool) -> Value {
        actions::action(tool.as_str()).map_or(Value::Null, |spec| spec.schema())
    }

    fn call<'a>(
        &'a self,
        tool: JobTool,
        by: &'a ToolCaller<'a>,
        arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Value, CallFailure>> {
        async move {
            let asked = ToolArgs(arguments, by.language);
            match tool {
                JobTool::RunSimulation => self.run(by, arguments).await,
                JobTool::JobStatus => self.status(&asked).await,
                JobTool::QueryReasoning => self.reasoning(&asked).await,
                JobTool::QueryResults => self.results(&asked).await,
                JobTool::CompareRuns => self.compare(&asked).await,
                JobTool::SearchMemory => self.memory(&asked).await,
                JobTool::MarketData => self.bars(&asked),
                JobTool::AuditRun => self.audit(&asked).await,
                JobTool::CancelJob => self.cancel(by, &asked).await,
                JobTool::ListRuns => self.list_runs(&asked).await,
                JobTool::ListData => self.list_data(&asked),
            }
        }
        .boxed()
    }
}

/// Arguments already validated by the action table, and the language of the answer.
pub(super) struct ToolArgs<'a>(&'a Value, Language);

impl ToolArgs<'_> {
    pub(super) fn say(&self, english: String, chinese: String) -> String {
        match self.1 {
            Language::En => english,
            Language::Zh => chinese,
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.0[name].as_str().map(str::to_owned)
    }

    pub(super) fn day(&self, name: &'static str) -> Result<Option<Date>, CallFailure> {
        let text = self.0[name].as_str();
        text.map(|text| parse_date(text).map_err(|why| bad(format!("{name}: {why}")))).transpose()
    }

    pub(super) fn limit(&self, usual: u32, most: u32) -> u32 {
        let given = self.0["limit"].as_u64().map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
        given.unwrap_or(usual).clamp(1, most)
    }
}

pub(super) fn bad(message: String) -> CallFailure {
    CallFailure { kind: FailureKind::BadRequest, message }
}

pub(super) fn missing(message: String) -> CallFailure {
    CallFailure { kind: FailureKind::ToolError, message }
}

pub(super) fn unavailable(error: impl std::fmt::Display) -> CallFailure {
    CallFailure { kind: FailureKind::Unavailable, message: error.to_string() }
}

pub(super) fn of_view(error: ViewError) -> CallFailure {
    match error {
        ViewError::Bad { .. } => bad(error.to_string()),
        ViewError::NotFound(what) | ViewError::Busy(what) => missing(what),
        ViewError::Record(cause) => unavailable(format!("{cause:#}")),
    }
}

/// Why a simulation cannot run, in the user's language: the field, and the reason as a quotation.
fn of_trigger(error: TriggerError, language: Language) -> CallFailure {
    let told = match (&error, language) {
        (TriggerError::Bad { field, message }, Language::Zh) => {
            format!("{}无效，系统提示：“{message}”", field_in_chinese(field))
        }
        (error, Language::Zh) => format!("无法运行，系统提示：“{error}”"),
        (error, Language::En) => error.to_string(),
    };
    match error {
        TriggerError::Bad { .. } => bad(told),
        TriggerError::NotFound(_) | TriggerError::Missing(_) | TriggerError::Conflict(_) => missing(told),
        TriggerError::Record(cause) => unavailable(format!("{cause:#}")),
    }
}

fn field_in_chinese(field: &str) -> &str {
    match field {
        "start_date" => "开始日期",
        "end_date" => "结束日期",
        "symbols" => "标的",
        "universe" => "指数成分股范围",
        "dataset" => "数据集",
        "models" | "agents" => "交易员或模型",
        "initial_cash" => "初始资金",
        "market" => "市场",
        "budget" => "预算",
        other => other,
    }
}

fn no_job(name: &str, asked: &ToolArgs<'_>) -> String {
    asked.say(format!("there is no job {name}"), format!("没有任务 {name}"))
}

impl JobToolbox {
    /// Queues a simulation under the origin's ID, or returns the one already queued. The config's budget
    /// applies, whatever the model requests.
    async fn run(&self, by: &ToolCaller<'_>, arguments: &Value) -> Result<Value, CallFailure> {
        let id = by.origin.job_id();
        if self.0.store.get_job(&id).await.map_err(unavailable)?.is_none() {
            let mut request = crate::api::simulation(arguments).map_err(bad)?;
            let usual = self.0.config.simulation.budget;
            let asked = request.budget.unwrap_or_default().tighter(usual);
            request.budget = Some(Budget { job: asked.job.tighter(by.bound), ..asked });
            trigger::trigger_as(&self.0, request, id.clone())
                .await
                .map_err(|error| of_trigger(error, by.language))?;
        }
        Ok(json!({ "job_id": id, "status": "queued" }))
    }

    /// The named job; `latest` is the newest simulation.
    pub(super) async fn job(&self, asked: &ToolArgs<'_>) -> Result<JobId, CallFailure> {
        let name = asked.text("job_id").ok_or_else(|| bad("job_id: it is missing".to_owned()))?;
        self.named(&name, asked).await
    }

    async fn named(&self, name: &str, asked: &ToolArgs<'_>) -> Result<JobId, CallFailure> {
        let store = &self.0.store;
        if name == "latest" {
            let filter = JobFilter { kind: Some(SIMULATE.to_owned()), status: None };
            let newest = store.jobs(&filter, &PageRequest::first(1)).await.map_err(unavailable)?;
            let newest = newest.items.into_iter().next();
            return newest.map(|item| item.job.id).ok_or_else(|| {
                missing(asked.say("there are no runs yet".to_owned(), "还没有任何运行".to_owned()))
            });
        }
        let id = JobId::new(name);
        match store.get_job(&id).await.map_err(unavailable)? {
            Some(_) => Ok(id),
            None => Err(missing(no_job(name, asked))),
        }
    }

    async fn status(&self, asked: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let job = self.job(asked).await?;
        let found =
            view::status(&self.0, job.as_str(), &view::StatusQuery::default()).await.map_err(of_view)?;
        let failed: Vec<Value> = found
            .details
            .iter()
            .filter(|day| day.error.is_some())
            .take(5)
            .map(|day| json!({ "date": day.date, "model": day.model, "error": day.error }))
            .collect();
        let (id, status, all) = (&found.job_id, found.status, found.progress.total_model_days);
        let done = all - found.progress.pending;
        let message = asked.say(
            format!("job {id}: {status}, {done} of {all} model-days done"),
            format!("任务 {id}：{}，已完成 {done}/{all} 个模型日", Language::Zh.status(status.as_str())),
        );
        let done_by = self.done_by(&job).await?;
        let by: Vec<&str> = done_by.iter().filter(|one| **one != job).map(JobId::as_str).collect();
        let (by, before) = (by.join(", "), found.progress.skipped);
        let message = match before {
            0 => message,
            _ if before == all => {
                let more = (
                    format!("; its days had been done before, by job {by}"),
                    format!("；这些交易日此前已由任务 {by} 完成"),
                );
                format!("{message}{}", asked.say(more.0, more.1))
            }
            _ => {
                let more = (
                    format!("; {before} of its model-days had been done before, by job {by}"),
                    format!("；其中 {before} 个模型日此前已由任务 {by} 完成"),
                );
                format!("{message}{}", asked.say(more.0, more.1))
            }
        };
        Ok(json!({
            "message": message, "job_id": found.job_id, "status": found.status, "done_by": done_by, "progress": found.progress,
            "models": found.models, "error": found.error, "warnings": found.warnings, "failed_days": failed,
            "date_range": [found.date_range.first(), found.date_range.last()],
        }))
    }

    async fn reasoning(&self, asked: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let job = self.named(&asked.text("job_id").unwrap_or_else(|| "latest".to_owned()), asked).await?;
        let (model, date) = (asked.text("model"), asked.day("date")?);
        let job = self.did(&job, model.as_deref(), date).await?;
        let mut query = ReasoningQuery {
            job_id: Some(job.to_string()),
            model,
            date,
            include_full_conversation: true,
            ..ReasoningQuery::default()
        };
        if query.date.is_none() {
            let details = self.0.store.job_details(&job).await.map_err(unavailable)?;
            query.date = details.and_then(|details| details.days.iter().map(|day| day.date).max());
        }
        let found = view::reasoning(&self.0, query).await.map_err(of_view)?;
        let limit = usize::try_from(asked.limit(MESSAGES, 100)).unwrap_or(usize::MAX);
        let mut messages = Vec::new();
        for session in &found.sessions {
            for said in session.conversation.iter().flatten() {
                messages.push(json!({ "date": session.date, "model": session.model, "node": said.node,
                    "role": said.role, "content": said.content }));
            }
        }
        let (days, thoughts) = (decisions::days(&found), self.thoughts(&job, &found).await?);
        // The end of a day contains the decisions.
        let from = messages.len().saturating_sub(limit);
        let (count, shown) = (messages.len(), messages.split_off(from));
        let message = asked.say(format!("{count} message(s)"), format!("{count} 条消息"));
        Ok(json!({ "message": message, "job_id": job, "days": days, "theses": thoughts.theses,
            "reflections": thoughts.reflections, "messages": shown, "earlier_messages": from }))
    }

    async fn results(&self, asked: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let job = self.job(asked).await?;
        let runs: Vec<Value> = self.runs(&job, asked).await?.iter().map(Run::to_json).collect();
        let count = runs.len();
        let message =
            asked.say(format!("{count} trader(s) of job {job}"), format!("任务 {job} 的 {count} 名交易员"));
        Ok(json!({ "message": message, "job_id": job, "runs": runs }))
    }

    async fn compare(&self, asked: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let names = asked.0["job_ids"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut runs = Vec::new();
        let mut baselines: Vec<Value> = Vec::new();
        for name in names.iter().filter_map(Value::as_str).take(20) {
            let named = self.named(name, asked).await?;
            for told in self.runs(&named, asked).await? {
                let run = &told.range;
                if let Some(found) = &run.baselines {
                    for (name, baseline) in
                        [("buy_and_hold", &found.buy_and_hold), ("equal_weight", &found.equal_weight)]
                    {
                        let told = json!({
                            "name": name, "start_date": run.start_date, "end_date": run.end_date,
                            "return_pct": percent(baseline.period_metrics.total_return),
                            "max_drawdown_pct": percent(baseline.period_metrics.max_drawdown),
                            "sharpe": baseline.period_metrics.sharpe,
                        });
                        if !baselines.contains(&told) {
                            baselines.push(told);
                        }
                    }
                }
                runs.push(told.to_json());
            }
        }
        let (count, beside) = (runs.len(), baselines.len());
        let message = asked.say(
            format!("{count} run(s) beside {beside} baseline(s); descriptive"),
            format!("{count} 个运行，{beside} 个基准；仅作描述"),
        );
        Ok(json!({ "message": message, "runs": runs, "baselines": baselines }))
    }

    async fn memory(&self, asked: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let job = match asked.text("job_id") {
            Some(name) => Some(self.named(&name, asked).await?.to_string()),
            None => None,
        };
        let of = MemoryQuery {
            model: asked.text("model"),
            job_id: job,
            limit: Some(asked.limit(10, 50)),
            cursor: None,
        };
        let query = TradesQuery { of, query: asked.text("query"), ..TradesQuery::default() };
        let mut found = view::memory_trades(&self.0, query.clone()).await.map_err(of_view)?;
        let words: Vec<&str> = query.query.as_deref().unwrap_or_default().split_whitespace().collect();
        if found.trades.is_empty() && words.len() > 1 {
            // Nothing matches all words: the first word with a match is better than nothing.
            for word in words {
                let one = TradesQuery {
                    query: Some(word.to_owned()),
                    search: Some(SearchBy::Keyword),
                    ..query.clone()
                };
                found = view::memory_trades(&self.0, one).await.map_err(of_view)?;
                if !found.trades.is_empty() {
                    break;
                }
            }
        }
        let told = |trade: &view::ReflectionResponse| {
            json!({ "job_id": trade.job_id, "model": trade.model, "symbol": trade.symbol, "side": trade.side,
                "exit_time": trade.exit_time, "pnl": trade.pnl, "return_pct": trade.return_pct,
                "text": trade.summary })
        };
        let reflections: Vec<Value> = found.trades.iter().map(told).collect();
        let count = reflections.len();
        let message = asked
            .say(format!("{count} reflection(s) on closed trades"), format!("{count} 条已平仓交易的反思"));
        Ok(json!({ "message": message, "reflections": reflections, "search": found.search }))
    }

    fn bars(&self, asked: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let symbol = asked.text("symbol").unwrap_or_default().to_uppercase();
        let wanted = asked.text("dataset").unwrap_or_else(|| self.0.config.simulation.dataset.clone());
        let dataset = self.0.catalogue.open(&wanted).map_err(|error| missing(error.to_string()))?;
        let limit = usize::try_from(asked.limit(60, 500)).unwrap_or(BARS).clamp(1, MAX_BARS);
        let range =
            BarRange { from: asked.day("start_date")?, to: asked.day("end_date")?, limit: Some(limit) };
        let days = dataset.trading_days(Date::MIN, Date::MAX);
        let last = days.iter().map(|day| day.close).max();
        let Some(last) = last else {
            let none = (format!("the dataset {wanted} has no days"), format!("数据集 {wanted} 没有交易日"));
            return Err(missing(asked.say(none.0, none.1)));
        };
        let view = dataset.view(last);
        let bars = view.bars(&Symbol::new(&symbol), range).map_err(|error| missing(error.to_string()))?.value;
        let count = bars.len();
        let bars: Vec<Value> = bars
            .iter()
            .map(|bar| {
                let [open, high, low, close] =
                    [bar.open, bar.high, bar.low, bar.close].map(|price| number(price.0));
                json!({ "date": bar.date, "open": open, "high": high, "low": low, "close": close,
                    "volume": number(bar.volume.0) })
            })
            .collect();
        let message = asked.say(format!("{count} bar(s) of {symbol}"), format!("{symbol} 的 {count} 根日线"));
        Ok(json!({ "message": message, "symbol": symbol, "dataset": wanted, "bars": bars }))
    }

    async fn audit(&self, asked: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let job = self.job(asked).await?;
        let row = self.0.store.get_job(&job).await.map_err(unavailable)?;
        let row = row.ok_or_else(|| missing(no_job(job.as_str(), asked)))?;
        let report = replay::run(&self.0.services, &row).await.map_err(missing)?;
        let shown = self.job_state(&job).await?;
        let faults: Vec<Value> = report
            .faults
            .iter()
            .map(|fault| json!({ "model": fault.agent, "date": fault.date, "reason": fault.reason }))
            .collect();
        let (equal, differ, open) = (report.equal, faults.len(), report.unfinished);
        let (reads, late) = (shown.reads, shown.late);
        let replayed = report.recorded_under.map(|rules| {
            asked.say(
                format!("recorded under rules {rules}, so not replayed by this version, which replays rules {RULES_VERSION}"),
                format!("该任务按规则版本 {rules} 记录，当前版本只能重放规则版本 {RULES_VERSION}，因此未重放"),
            )
        });
        let message = asked.say(
            format!(
                "{equal} session(s) replay equal, {differ} differ, {open} not ended; {reads} read(s) of the market, \
                 {late} known only after their day"
            ),
            format!(
                "{equal} 个会话重放一致，{differ} 个不同，{open} 个未结束；读取行情 {reads} 次，其中 {late} 次在当日之后才可知"
            ),
        );
        Ok(json!({
            "message": replayed.unwrap_or(message), "recorded_under_rules": row.rules_version,
            "job_id": job, "sessions_equal": report.equal, "steps": report.steps,
            "sessions_unfinished": report.unfinished, "faults": faults, "market_reads": shown.reads,
            "rows_shown": shown.rows, "reads_known_after_their_day": shown.late,
            "sessions_audited": shown.sessions, "latest_known_at": shown.latest,
        }))
    }

    /// What a job's sessions read of the market.
    async fn job_state(&self, job: &JobId) -> Result<JobState, CallFailure> {
        let store = &self.0.store;
        let mut shown = JobState::default();
        let Some(details) = store.job_details(job).await.map_err(unavailable)? else { return Ok(shown) };
        for day in details.days.iter().take(AUDITED) {
            let found = store.find_session(job, &day.agent, day.date).await.map_err(unavailable)?;
            let Some(session) = found else { continue };
            shown.sessions += 1;
            let mut cursor = None;
            loop {
                let query = view::SessionQuery { session_id: session.id.0, limit: Some(200), cursor };
                let page = view::exposures(&self.0, query).await.map_err(of_view)?;
                for read in &page.exposures {
                    shown.reads += 1;
                    shown.rows += read.rows;
                    shown.latest = shown.latest.max(read.latest_known_at);
                    let after = read.last_date.is_some_and(|last| last > day.date);
                    shown.late += u64::from(after);
                }
                match page.next_cursor {
                    Some(next) => cursor = Some(next),
                    None => break,
                }
            }
        }
        Ok(shown)
    }
}

/// The market data that sessions read.
#[derive(Default)]
struct JobState {
    sessions: u64,
    reads: u64,
    rows: u64,
    late: u64,
    latest: Option<Timestamp>,
}

//! What the assistant sees of simulations: the API's requests and views, in short form.

use super::audit;
use super::decisions;
use super::runs::{Run, percent};
use super::toolbox::{JobToolbox, ToolArgs, bad, missing, service_failure, unavailable};
use crate::error::ServiceError;
use crate::trigger;
use crate::view;
use futures::FutureExt as _;
use papertape_assistant::actions;
use papertape_core::id::{JobId, Symbol};
use papertape_core::language::Language;
use papertape_core::market::BarRange;
use papertape_core::message::CallFailure;
use papertape_core::ports::{BoxFuture, JobControl, JobTool, Queue as _, ToolCaller};
use papertape_core::time::Date;
use papertape_protocol::audit::AuditQuery;
use papertape_protocol::jobs::StatusQuery;
use papertape_protocol::memory::{ReflectionResponse, SearchBy, TradesQuery};
use papertape_protocol::number::number;
use papertape_protocol::reasoning::ReasoningQuery;
use papertape_runtime::budget::Budget;
use serde_json::{Value, json};

/// Messages of a day: default and maximum.
const MESSAGES: u32 = 20;
/// Bars: default and maximum.
const BARS: usize = 60;
const MAX_BARS: usize = 500;

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
            let args = ToolArgs { values: arguments, language: by.language };
            match tool {
                JobTool::RunSimulation => self.run(by, arguments).await,
                JobTool::JobStatus => self.status(&args).await,
                JobTool::QueryReasoning => self.reasoning(&args).await,
                JobTool::QueryResults => self.results(&args).await,
                JobTool::CompareRuns => self.compare(&args).await,
                JobTool::SearchMemory => self.memory(&args).await,
                JobTool::MarketData => self.bars(&args),
                JobTool::AuditRun => self.audit(&args).await,
                JobTool::CancelJob => self.cancel(by, &args).await,
                JobTool::ListRuns => self.list_runs(&args).await,
                JobTool::ListData => self.list_data(&args),
            }
        }
        .boxed()
    }
}

/// Why a simulation cannot run, in the user's language: the field, and the reason as a quotation.
fn trigger_failure(error: ServiceError, language: Language) -> CallFailure {
    match (error, language) {
        (ServiceError::Invalid { field, message }, Language::Zh) => {
            bad(format!("{}无效，系统提示：“{message}”", field_in_chinese(field)))
        }
        (error @ ServiceError::Internal(_), _) | (error, Language::En) => service_failure(error),
        (error, Language::Zh) => missing(format!("无法运行，系统提示：“{error}”")),
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

impl JobToolbox {
    /// Queues a simulation under the origin's ID, or returns the one already queued. The config's budget
    /// applies, whatever the model requests.
    async fn run(&self, by: &ToolCaller<'_>, arguments: &Value) -> Result<Value, CallFailure> {
        let id = by.origin.job_id();
        if self.0.store.get_job(&id).await.map_err(unavailable)?.is_none() {
            let mut request = crate::trigger::request_of_json(arguments).map_err(bad)?;
            let defaults = self.0.config.simulation.budget;
            let budget = request.budget.unwrap_or_default().tighter(defaults);
            request.budget = Some(Budget { job: budget.job.tighter(by.bound), ..budget });
            trigger::trigger_as(&self.0, request, id.clone())
                .await
                .map_err(|error| trigger_failure(error, by.language))?;
        }
        Ok(json!({ "job_id": id, "status": "queued" }))
    }

    async fn status(&self, args: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let job = self.job(args).await?;
        let found =
            view::status(&self.0, job.as_str(), &StatusQuery::default()).await.map_err(service_failure)?;
        let failed: Vec<Value> = found
            .details
            .iter()
            .filter(|day| day.error.is_some())
            .take(5)
            .map(|day| json!({ "date": day.date, "model": day.model, "error": day.error }))
            .collect();
        let (id, status, all) = (&found.job_id, found.status, found.progress.total_model_days);
        let done = all - found.progress.pending;
        let message = args.localized(
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
                    format!("; its days were already done by job {by}"),
                    format!("；这些交易日此前已由任务 {by} 完成"),
                );
                format!("{message}{}", args.localized(more.0, more.1))
            }
            _ => {
                let more = (
                    format!("; {before} of its model-days were already done by job {by}"),
                    format!("；其中 {before} 个模型日此前已由任务 {by} 完成"),
                );
                format!("{message}{}", args.localized(more.0, more.1))
            }
        };
        Ok(json!({
            "message": message, "job_id": found.job_id, "status": found.status, "done_by": done_by, "progress": found.progress,
            "models": found.models, "error": found.error, "warnings": found.warnings, "failed_days": failed,
            "date_range": [found.date_range.first(), found.date_range.last()],
        }))
    }

    async fn reasoning(&self, args: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let job = self.named(&args.text("job_id").unwrap_or_else(|| "latest".to_owned()), args).await?;
        let (model, date) = (args.text("model"), args.day("date")?);
        let job = self.job_of_day(&job, model.as_deref(), date).await?;
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
        let found = view::reasoning(&self.0, query).await.map_err(service_failure)?;
        let limit = usize::try_from(args.limit(MESSAGES, 100)).unwrap_or(usize::MAX);
        let mut messages = Vec::new();
        for session in &found.sessions {
            for message in session.conversation.iter().flatten() {
                messages.push(json!({ "date": session.date, "model": session.model, "node": message.node,
                    "role": message.role, "content": message.content }));
            }
        }
        let (days, memories) = (decisions::days(&found), self.memories(&job, &found).await?);
        // The end of a day contains the decisions.
        let from = messages.len().saturating_sub(limit);
        let (count, shown) = (messages.len(), messages.split_off(from));
        let message = args.localized(format!("{count} message(s)"), format!("{count} 条消息"));
        Ok(json!({ "message": message, "job_id": job, "days": days, "theses": memories.theses,
            "reflections": memories.reflections, "messages": shown, "earlier_messages": from }))
    }

    async fn results(&self, args: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let job = self.job(args).await?;
        let runs: Vec<Value> = self.runs(&job, args).await?.iter().map(Run::to_json).collect();
        let count = runs.len();
        let message = args
            .localized(format!("{count} trader(s) of job {job}"), format!("任务 {job} 的 {count} 名交易员"));
        Ok(json!({ "message": message, "job_id": job, "runs": runs }))
    }

    async fn compare(&self, args: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let names = args.values["job_ids"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut runs = Vec::new();
        let mut baselines: Vec<Value> = Vec::new();
        for name in names.iter().filter_map(Value::as_str).take(20) {
            let named = self.named(name, args).await?;
            for found in self.runs(&named, args).await? {
                let run = &found.range;
                if let Some(known) = &run.baselines {
                    for (name, baseline) in
                        [("buy_and_hold", &known.buy_and_hold), ("equal_weight", &known.equal_weight)]
                    {
                        let entry = json!({
                            "name": name, "start_date": run.start_date, "end_date": run.end_date,
                            "return_pct": percent(baseline.period_metrics.total_return),
                            "max_drawdown_pct": percent(baseline.period_metrics.max_drawdown),
                            "days": baseline.period_metrics.days, "sharpe": baseline.period_metrics.sharpe,
                        });
                        if !baselines.contains(&entry) {
                            baselines.push(entry);
                        }
                    }
                }
                runs.push(found.to_json());
            }
        }
        let (count, baseline_count) = (runs.len(), baselines.len());
        let message = args.localized(
            format!("{count} run(s), {baseline_count} baseline(s); descriptive"),
            format!("{count} 个运行，{baseline_count} 个基准；仅作描述"),
        );
        Ok(json!({ "message": message, "runs": runs, "baselines": baselines }))
    }

    async fn memory(&self, args: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let job = match args.text("job_id") {
            Some(name) => Some(self.named(&name, args).await?.to_string()),
            None => None,
        };
        let query = TradesQuery {
            model: args.text("model"),
            job_id: job,
            query: args.text("query"),
            limit: Some(args.limit(10, 50)),
            ..TradesQuery::default()
        };
        let mut found = view::memory_trades(&self.0, query.clone()).await.map_err(service_failure)?;
        let words: Vec<&str> = query.query.as_deref().unwrap_or_default().split_whitespace().collect();
        if found.trades.is_empty() && words.len() > 1 {
            // Nothing matches all words: the first word with a match is better than nothing.
            for word in words {
                let one = TradesQuery {
                    query: Some(word.to_owned()),
                    search: Some(SearchBy::Keyword),
                    ..query.clone()
                };
                found = view::memory_trades(&self.0, one).await.map_err(service_failure)?;
                if !found.trades.is_empty() {
                    break;
                }
            }
        }
        let entry = |trade: &ReflectionResponse| {
            json!({ "job_id": trade.job_id, "model": trade.model, "symbol": trade.symbol, "side": trade.side,
                "exit_time": trade.exit_time, "pnl": trade.pnl, "return_pct": trade.return_pct,
                "text": trade.summary })
        };
        let reflections: Vec<Value> = found.trades.iter().map(entry).collect();
        let count = reflections.len();
        let message = args.localized(
            format!("{count} reflection(s) on closed trades"),
            format!("{count} 条已平仓交易的反思"),
        );
        Ok(json!({ "message": message, "reflections": reflections, "search": found.search }))
    }

    fn bars(&self, args: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let symbol = args.text("symbol").unwrap_or_default().to_uppercase();
        let name = args.text("dataset").unwrap_or_else(|| self.0.config.simulation.dataset.clone());
        let dataset = self.0.catalogue.open(&name).map_err(|error| missing(error.to_string()))?;
        let limit = usize::try_from(args.limit(60, 500)).unwrap_or(BARS).clamp(1, MAX_BARS);
        let range = BarRange { from: args.day("start_date")?, to: args.day("end_date")?, limit: Some(limit) };
        let days = dataset.trading_days(Date::MIN, Date::MAX);
        let last = days.iter().map(|day| day.close).max();
        let Some(last) = last else {
            let none = (format!("the dataset {name} has no days"), format!("数据集 {name} 没有交易日"));
            return Err(missing(args.localized(none.0, none.1)));
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
        let message =
            args.localized(format!("{count} bar(s) of {symbol}"), format!("{symbol} 的 {count} 根日线"));
        Ok(json!({ "message": message, "symbol": symbol, "dataset": name, "bars": bars }))
    }

    /// Audits all of a job's sessions, as `papertape audit` does.
    async fn audit(&self, args: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let job = self.job(args).await?;
        let all = AuditQuery::default();
        let audited = Box::pin(view::audit_all(&self.0, job.as_str(), &all, &|_, _| {})).await;
        let audited = audited.map_err(service_failure)?;
        Ok(audit::result(&audited, args))
    }
}

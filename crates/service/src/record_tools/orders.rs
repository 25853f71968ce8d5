//! Orders and fills, by trading day.

use super::args::Args;
use super::{object, page};
use crate::app::App;
use crate::error::ServiceError;
use crate::view;
use papertape_core::record::DayStatus;
use papertape_core::time::{Date, parse_date};
use papertape_protocol::jobs::StatusQuery;
use papertape_protocol::results::day::DayResult;
use papertape_protocol::results::{ResultsQuery, ResultsResponse};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Each model-day with its fills, rejections and pending orders.
pub(super) async fn orders(app: &App, args: &Args) -> Result<Value, ServiceError> {
    let (days, next) = days(app, args).await?;
    let rows = days.into_iter().map(|day| {
        Ok(json!({
            "date": object(day.date)?, "model": day.model, "job_id": day.job_id,
            "session_id": day.metadata.session_id, "trades": object(day.trades)?,
            "rejections": object(day.rejections)?, "pending_orders": object(day.pending_orders)?,
            "corporate_actions": object(day.corporate_actions)?, "masked": object(day.masked)?,
        }))
    });
    Ok(page("days", rows.collect::<Result<_, ServiceError>>()?, next))
}

/// All fills, in order.
pub(super) async fn trades(app: &App, args: &Args) -> Result<Value, ServiceError> {
    let (days, next) = days(app, args).await?;
    let mut rows = Vec::new();
    let masked = days.iter().find_map(|day| day.masked.clone());
    for day in days {
        let of = [
            ("date", object(day.date)?),
            ("model", json!(day.model)),
            ("session_id", json!(day.metadata.session_id)),
        ];
        for trade in day.trades {
            let mut row = json!({});
            of.iter().for_each(|(name, value)| row[*name] = value.clone());
            if let Value::Object(trade) = object(trade)? {
                trade.into_iter().for_each(|(name, value)| row[name] = value);
            }
            rows.push(row);
        }
    }
    let mut answer = page("trades", rows, next);
    if let Some(masked) = masked {
        answer["masked"] = object(masked)?;
    }
    Ok(answer)
}

/// The model-days of a page of trading days, and the cursor of the next page: its last day.
async fn days(app: &App, args: &Args) -> Result<(Vec<DayResult>, Option<String>), ServiceError> {
    let job = args.text("job_id")?.unwrap_or_default();
    let model = args.text("model")?;
    let day = |name: &'static str| -> Result<Option<Date>, ServiceError> {
        let parsed = args.text(name)?.map(parse_date).transpose();
        parsed.map_err(|message| ServiceError::invalid(name, message))
    };
    let (only, from, to) = (day("date")?, day("start_date")?, day("end_date")?);
    if only.is_some() && (from.is_some() || to.is_some()) {
        return Err(ServiceError::invalid("date", "give a day or a range, not both"));
    }
    let after = day("cursor")?;
    let status = view::status(app, job, &StatusQuery { date: only, model: model.map(str::to_owned) }).await?;
    let has_run = status.details.iter().filter(|day| day.status != DayStatus::Queued);
    let dates: BTreeSet<Date> = has_run.map(|day| day.date).collect();
    let dates = dates.into_iter().filter(|date| {
        from.is_none_or(|from| *date >= from)
            && to.is_none_or(|to| *date <= to)
            && after.is_none_or(|after| *date > after)
    });
    let dates: Vec<Date> = dates.take(args.limit() + 1).collect();
    if dates.is_empty() && after.is_none() {
        return Err(ServiceError::NotFound("no session of this job matches".to_owned()));
    }
    let (page, rest) = dates.split_at(dates.len().min(args.limit()));
    let mut found = Vec::new();
    for date in page {
        let query = ResultsQuery {
            date: Some(*date),
            job_id: Some(job.to_owned()),
            model: model.map(str::to_owned),
            ..ResultsQuery::default()
        };
        match view::results(app, query).await {
            Ok(ResultsResponse::Day(day)) => found.extend(day.results),
            // A day that no session has begun yet.
            Ok(ResultsResponse::Range(_)) | Err(ServiceError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let next = page.last().filter(|_| !rest.is_empty());
    Ok((found, next.map(ToString::to_string)))
}

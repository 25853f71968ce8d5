//! The size of a report, and what untrusted text does to it.

use super::data::ReportData;
use super::run::Run;
use super::trades::{Reason, RejectedOrder, RoundTrip, TradeBook, TripFill};
use super::words::Words;
use papertape_agents::config::{AgentConfig, MemorySettings};
use papertape_core::broker::MarketProfile;
use papertape_core::id::{AgentName, ContentHash, JobId, Symbol};
use papertape_core::language::Language;
use papertape_core::money::Money;
use papertape_core::record::{JobKind, JobRow, JobStatus, SessionId};
use papertape_core::time::{Date, Timestamp};
use papertape_protocol::compare::CompareResponse;
use papertape_runtime::config::{DatasetRef, SimulationConfig};
use papertape_store::UsageCost;
use rust_decimal::Decimal;
use serde_json::{Value, json};

const AGENTS: usize = 10;
const DAYS: usize = 2_500;

fn day(at: usize) -> Date {
    let start = jiff::civil::date(2003, 1, 1);
    start.checked_add(jiff::Span::new().days(i64::try_from(at).expect("few"))).expect("a day")
}

fn name(agent: usize) -> String {
    format!("desk:provider::a-long-model-name-{agent}")
}

/// A walk that never repeats itself, between 5,000 and 15,000.
fn close(agent: usize, at: usize) -> f64 {
    let wave = |period: f64| (at as f64 / period + agent as f64).sin();
    ((10_000.0 + 3_000.0 * wave(400.0) + 1_500.0 * wave(37.3) + 500.0 * wave(2.7)) * 100.0).round() / 100.0
}

fn closes(agent: usize) -> Value {
    let value = |at: usize| json!({ "date": day(at), "portfolio_value": close(agent, at) });
    (0..DAYS).map(value).collect()
}

fn metrics() -> Value {
    json!({
        "days": DAYS, "trading_days_per_year": 252, "costs": 1234.5, "total_return": 0.123, "sharpe": 0.4,
        "sharpe_interval": { "low": -0.2, "high": 1.0 }, "mean_interval": { "mean": 0.0001, "low": -0.001, "high": 0.001 }
    })
}

/// Every third day is degraded, each for a reason of its own.
fn run(agent: usize, text: &str) -> Run {
    let values: Value = closes(agent)
        .as_array()
        .expect("a list")
        .iter()
        .map(|close| {
            let mut close = close.clone();
            close["cash"] = json!(1);
            close["status"] = json!("completed");
            close["full_research"] = json!(true);
            close["job_id"] = json!("job");
            close
        })
        .collect();
    let degraded: Vec<usize> = (0..DAYS).step_by(3).collect();
    let reason = |at: &usize| json!({ "date": day(*at), "model": name(agent), "state": "research_degraded", "reason": format!("{at} {text}") });
    let month = |at: usize| json!({ "year": 2003 + at / 12, "month": at % 12 + 1, "total_return": 0.0123, "days": 21, "is_partial": at == 0 });
    let drawdown = json!({ "peak": day(1), "trough": day(9), "recovery": null, "depth": -0.3, "days": 2000 });
    let baseline = json!({
        "daily_portfolio_values": closes(AGENTS), "period_metrics": metrics(), "uninvested": 0.0, "is_underinvested": false
    });
    let result = json!({
        "model": name(agent), "job_id": "job", "done_before": [], "rules_version": 4, "start_date": day(0),
        "end_date": day(DAYS - 1), "starting_portfolio_value": 10_000, "ending_portfolio_value": close(agent, DAYS - 1),
        "daily_portfolio_values": values, "period_metrics": metrics(),
        "history": {
            "months": (0..120).map(month).collect::<Vec<_>>(), "drawdowns": vec![drawdown; 10], "rolling_sharpe": []
        },
        "full_research": { "days": 1666, "total_days": DAYS, "period_metrics": metrics() },
        "provenance": {
            "point_in_time": "unverified", "failed_days": [], "reasons": degraded.iter().map(reason).collect::<Vec<_>>(),
            "degraded_days": degraded.iter().map(|at| day(*at)).collect::<Vec<_>>(),
            "point_in_time_reason": { "kind": "external_tools", "job": "job", "session": 1, "date": day(0) }
        },
        "training_cutoffs": [],
        "baselines": { "buy_and_hold": baseline, "equal_weight": baseline }
    });
    Run { window: 1, trial: 1, result: serde_json::from_value(result).expect("a result") }
}

/// All pairs of ten agents and two baselines.
fn comparison() -> CompareResponse {
    let agents = (0..AGENTS).map(|agent| (format!("job:job/{}", name(agent)), Some(name(agent))));
    let baselines = ["baseline:buy_and_hold", "baseline:equal_weight"].map(|id| (id.to_owned(), None));
    let items: Vec<(String, Option<String>)> = agents.chain(baselines).collect();
    let pair = |(a, b): (usize, usize)| {
        json!({
            "a": items[a].0, "b": items[b].0, "verdict": "not_distinguishable", "words": "not distinguishable", "reasons": [],
            "mismatches": [], "days": DAYS, "different_days": DAYS, "estimand": "two_runs", "holm_p": 0.5,
            "min_detectable_points": 12.3, "days_needed": 5026, "refilled": {}, "net_of_model_cost": {}, "cone": [],
            "difference": { "days": DAYS, "mean_daily": 0.0, "total": 0.12, "total_interval": { "low": -0.5, "high": 0.7 } }
        })
    };
    let all = (0..items.len()).flat_map(|a| (a + 1..items.len()).map(move |b| (a, b)));
    let pairs: Vec<Value> = all.filter(|(a, _)| *a < AGENTS).map(pair).collect();
    let item = |(id, agent): &(String, Option<String>)| {
        json!({
            "id": id, "label": id, "kind": if agent.is_some() { "agent" } else { "baseline" }, "agent": agent, "job_ids": [],
            "trials": 1, "windows": 1, "days": DAYS, "planned_days": DAYS, "full_research_days": 1, "fallback_days": 0,
            "fallback_log_return": 0.0, "curve": [], "training_cutoffs": []
        })
    };
    let response = json!({
        "method_version": 1, "vary": [], "target_points": 10.0, "items": items.iter().map(item).collect::<Vec<_>>(),
        "family": { "kind": "all_pairs", "tests": pairs.len(), "adjustment": "holm", "level": 0.05 }, "pairs": pairs, "random": [],
        "notes": [], "deployment_mode": "prod", "is_dev_mode": false
    });
    serde_json::from_value(response).expect("a comparison")
}

fn trades(text: &str) -> TradeBook {
    let mut book = TradeBook { trips: 20, ..TradeBook::default() };
    let fill = |at: usize| TripFill {
        session: SessionId(1),
        date: day(at),
        action: "sell".to_owned(),
        price: Decimal::TEN,
        order: Some("1".to_owned()),
    };
    for at in 0..10 {
        let reason = Some(Reason { node: None, text: text.to_owned() });
        let mut trip =
            RoundTrip::of_test(&name(at), "AAPL", Decimal::from(10 - at), (fill(at), fill(at + 9)));
        (trip.reason, trip.exit_reason) = (reason.clone(), reason);
        book.best.push(trip.clone());
        trip.realized = -trip.realized;
        book.worst.push(trip);
    }
    for at in 0..40 {
        book.rejections.push(RejectedOrder {
            agent: name(at % AGENTS),
            date: day(at),
            side: "buy".to_owned(),
            symbol: text.chars().take(200).collect(),
            quantity: Decimal::ONE,
            code: "insufficient_cash".to_owned(),
            message: Some(text.to_owned()),
        });
        *book.rejected.entry((name(at % AGENTS), "insufficient_cash".to_owned())).or_default() += 1;
    }
    book
}

fn data(language: Language, text: &str) -> ReportData {
    let config = SimulationConfig {
        dataset: DatasetRef { name: "long".to_owned(), hash: ContentHash::of(b"data") },
        start_date: day(0),
        end_date: day(DAYS - 1),
        symbols: (0..500).map(|at| Symbol::new(format!("SYM{at}"))).collect(),
        universe: None,
        agents: (0..AGENTS)
            .map(|at| AgentConfig::desk(AgentName::new(name(at)), "lab::one".parse().expect("a model")))
            .collect(),
        market: MarketProfile::us_equity(),
        initial_cash: Money::from(10_000),
        seed: 1,
        prompts: ContentHash::of(b"prompts"),
        summaries: false,
        benchmark: None,
        masking: None,
        memory: MemorySettings::off(),
        memory_from: None,
        embedding: None,
        starts: Default::default(),
        continues: Default::default(),
        branch: None,
        imported: None,
        budget: Default::default(),
    };
    let job = JobRow {
        id: JobId::new("job"),
        kind: JobKind::Simulate,
        config: Value::Null,
        fingerprint: ContentHash::of(b"config"),
        rules_version: 4,
        status: JobStatus::Partial,
        error: None,
        warnings: Vec::new(),
        parent: None,
        superseded_by: None,
        created_at: Timestamp::UNIX_EPOCH,
        started_at: None,
        completed_at: None,
        crashes: 0,
        parts: 1,
    };
    ReportData {
        words: Words(language),
        job,
        config,
        used: UsageCost { unpriced_calls: 3, ..UsageCost::default() },
        agents: (0..AGENTS).map(name).collect(),
        runs: (0..AGENTS).map(|agent| run(agent, "timeout")).collect(),
        comparison: Ok(comparison()),
        baselines: None,
        trades: trades(text),
        experiment: None,
        is_bundled: false,
    }
}

/// Goal: ten agents over 2,500 days, with ten megabytes of the characters that take the most room behind every decision,
/// fit in one megabyte in both languages, and everything that is left out is named.
#[test]
fn a_long_report_is_small() {
    let text = "\u{202e}<\u{0}".repeat(2_000_000);
    assert!(text.len() >= 10_000_000);
    for language in Language::ALL {
        let page = super::page(&data(language, &text));
        assert!(page.len() <= 1_000_000, "{} bytes", page.len());
        assert!(
            !page.contains('\u{202e}') && !page.contains('\u{0}') && page.contains("\\u{202e}&lt;\\u{0}")
        );
        let expected = match language {
            Language::En => [
                "2,500 days are drawn as 300 groups",
                "(cut; 6000000 characters in all)",
                "60 of ",
                "Interim: the job is partial",
                "cost unknown (3 calls without a price)",
            ],
            Language::Zh => {
                ["2,500 个交易日合并为 300 组绘制", "全文 6000000 字", "列出 60 种", "尚未完成", "费用未知"]
            }
        };
        for expected in expected {
            assert!(
                page.contains(expected) || page.contains(&expected.replace("6000000", "6,000,000")),
                "{expected}"
            );
        }
    }
}

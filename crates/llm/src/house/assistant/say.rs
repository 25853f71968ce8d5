//! What the house's assistant says. Figures are those of results; texts of others are quoted in short.

use super::super::day::Language;
use super::super::words;
use super::next::Action;
use super::results::Results;
use papertape_core::time::Date;
use serde_json::Value;

/// How much of a text of others is quoted.
const QUOTED_CHARS: usize = 300;
/// How many entries of a list are told.
const TOLD: usize = 5;

/// How it is asked for days.
pub(super) const OVER_WHICH_DAYS: [&str; 2] = ["Over which days?", "请说明日期"];

pub(super) fn doing(actions: &[Action], language: Language) -> String {
    let names: Vec<&str> = actions.iter().map(|action| action.name).collect();
    match language {
        Language::English => format!("I will do this: {}.", names.join(", ")),
        Language::Chinese => format!("我将执行：{}。", names.join("、")),
    }
}

pub(super) fn cannot(without_days: bool, is_worker: bool, language: Language) -> String {
    let failed = if is_worker { "FAILED: " } else { "" };
    match (without_days, language) {
        (true, Language::English) => {
            format!(
                "{failed}Over which days? Say for example “from 2012-10-01 to 2012-12-31” or “the autumn of 2012”."
            )
        }
        (true, Language::Chinese) => {
            format!("{failed}请说明日期，例如“从 2012-10-01 到 2012-12-31”或“2012年秋天”。")
        }
        (false, Language::English) => format!(
            "{failed}My rules do not cover this. I can run a backtest of a solo trader or a desk over some days, compare \
             it with buy and hold or another run, say why it lost in a month, show status and results, create, \
             decompose, execute, show and delete plans, search memory, and search the web. Say “help” for all actions."
        ),
        (false, Language::Chinese) => format!(
            "{failed}我的规则不涵盖这个请求。我可以：回测单个交易员或投研团队，与买入持有或其他运行比较，说明某月为何亏损，\
             显示状态和结果，新建、分解、执行、显示和删除计划，搜索记忆，联网搜索。说“帮助”可查看全部动作。"
        ),
    }
}

/// Who answers, and what to try first.
pub(super) fn greeting(language: Language) -> String {
    match language {
        Language::English => "Hello. I run backtests of paper traders on past days and tell you what came of them. \
            Try: “run momentum on IBM and AAPL for the autumn of 2012 and compare it with buy and hold”, then “why did \
            it lose in November?”. Say “help” for all that I can do."
            .to_owned(),
        Language::Chinese => "你好。我在历史交易日上回测模拟交易员，并告诉你结果。可以试试：\
            “回测动量交易员，标的 IBM、AAPL，2012年秋天，并与买入持有比较”，然后问“为什么11月亏损？”。\
            说“帮助”可查看全部功能。"
            .to_owned(),
    }
}

/// The months that are asked about are none of the run's.
pub(super) fn not_of_the_run(first: Date, last: Date, language: Language) -> String {
    match language {
        Language::English => format!(
            "The run has no day in the time that you name: it goes from {first} to {last}. This is of the whole run."
        ),
        Language::Chinese => {
            format!("该运行不包含你说的时间：它从 {first} 到 {last}。以下是整个运行的情况。")
        }
    }
}

/// The account of all that was done.
pub(super) fn answer(results: &Results, language: Language, is_worker: bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    for result in results.all() {
        let name = result["name"].as_str().unwrap_or_default();
        let message = result["message"].as_str().unwrap_or_default();
        if result["success"] != true {
            lines.push(match language {
                Language::English => format!("{name} was not done: {message}"),
                Language::Chinese => format!("{name} 未完成：{message}"),
            });
            continue;
        }
        let data = &result["data"];
        match name {
            "run_simulation" => {
                lines.push(simulation(message, data, language));
                if data["still_running"] == true {
                    lines.push(results_later(data, language));
                }
            }
            "query_results" => lines.extend(figures(data, language)),
            "compare_runs" => lines.extend(compared(data, language)),
            "query_reasoning" => lines.extend(said(data, language)),
            "web_search" => lines.extend(listed(message, &data["hits"], "title", language)),
            "search_memory" => lines.extend(listed(message, &data["reflections"], "text", language)),
            "help" | "list_plans" => {
                let key = if name == "help" { "actions" } else { "plans" };
                lines.extend(listed(message, &data[key], "name", language));
            }
            "market_data" => lines.extend(bars(message, data, language)),
            "create_plan" => {
                lines.push(message.to_owned());
                let is_alone = results.of("decompose_task").is_none() && results.of("execute_plan").is_none();
                lines.extend(is_alone.then(|| next_of_a_plan(language)));
            }
            "show_tasks" | "decompose_task" | "execute_plan" | "rerun_task" => {
                lines.push(message.to_owned());
                tasks(&data["tasks"], 0, &mut lines);
            }
            _ => lines.push(message.to_owned()),
        }
    }
    // A task is done where all that it asks for is.
    let any_failed = results.goes_on() || results.all().iter().any(|result| result["success"] != true);
    let failed = if is_worker && any_failed { "FAILED: " } else { "" };
    format!("{failed}{}", lines.join("\n"))
}

fn next_of_a_plan(language: Language) -> String {
    match language {
        Language::English => {
            "It has no tasks yet. Say “decompose it and execute it” to break it up and run it."
        }
        Language::Chinese => "它还没有任务。说“分解并执行计划”即可分解并运行。",
    }
    .to_owned()
}

/// Daily bars in short: the first and the last close, the highest and the lowest price.
fn bars(message: &str, data: &Value, language: Language) -> Vec<String> {
    let bars = data["bars"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut lines = vec![message.to_owned()];
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else { return lines };
    let day = |bar: &Value| bar["date"].as_str().unwrap_or_default().to_owned();
    let price =
        |bar: &Value, key: &str| bar[key].as_f64().map_or_else(|| "n/a".to_owned(), |at| format!("{at:.2}"));
    let all = |key: &'static str| bars.iter().filter_map(move |bar| bar[key].as_f64());
    let (high, low) = (all("high").fold(f64::MIN, f64::max), all("low").fold(f64::MAX, f64::min));
    let (from, to) = (price(first, "close"), price(last, "close"));
    lines.push(match language {
        Language::English => format!(
            "Close {from} on {}, {to} on {}; highest {high:.2}, lowest {low:.2}.",
            day(first),
            day(last)
        ),
        Language::Chinese => {
            format!("{} 收盘 {from}，{} 收盘 {to}；最高 {high:.2}，最低 {low:.2}。", day(first), day(last))
        }
    });
    lines
}

fn simulation(message: &str, data: &Value, language: Language) -> String {
    let job = data["job_id"].as_str().unwrap_or_default();
    if message.contains(job) {
        return message.to_owned();
    }
    match language {
        Language::English => format!("Run {job}: {message}"),
        Language::Chinese => format!("运行 {job}：{message}"),
    }
}

/// What a run that goes on has come to is asked for later.
fn results_later(data: &Value, language: Language) -> String {
    let job = data["job_id"].as_str().unwrap_or_default();
    match language {
        Language::English => {
            format!("I have looked at none of its results. Ask “results of {job}” once it has ended.")
        }
        Language::Chinese => format!("我还没有查看它的结果。结束后可问“{job} 的结果”。"),
    }
}

/// Which days of a run other jobs had done before.
fn done_before(run: &Value, language: Language) -> String {
    let mut said = String::new();
    for part in run["done_before"].as_array().into_iter().flatten() {
        let text = |key: &str| part[key].as_str().unwrap_or_default();
        let (job, from, to) = (text("job_id"), text("start_date"), text("end_date"));
        said.push_str(&match language {
            Language::English => format!(" {from} to {to} were done before, by job {job}."),
            Language::Chinese => format!("其中 {from} 至 {to} 此前已由任务 {job} 完成。"),
        });
    }
    said
}

fn percent(value: &Value) -> String {
    value.as_f64().map_or_else(|| "n/a".to_owned(), |value| format!("{value:.2}%"))
}

fn figures(data: &Value, language: Language) -> Vec<String> {
    let runs = data["runs"].as_array().map(Vec::as_slice).unwrap_or_default();
    runs.iter()
        .map(|run| {
            let model = run["model"].as_str().unwrap_or_default();
            let (from, to) = (&run["start_date"], &run["end_date"]);
            let (from, to) = (from.as_str().unwrap_or_default(), to.as_str().unwrap_or_default());
            let (gain, fall) = (percent(&run["return_pct"]), percent(&run["max_drawdown_pct"]));
            let (worst, by) = (&run["worst_day"]["date"], percent(&run["worst_day"]["return_pct"]));
            let (worst, before) = (worst.as_str().unwrap_or("-"), done_before(run, language));
            match language {
                Language::English => format!(
                    "{model}, {from} to {to}: return {gain}, drawdown {fall}, worst day {worst} ({by}).{before}"
                ),
                Language::Chinese => {
                    format!("{model}，{from} 至 {to}：收益 {gain}，回撤 {fall}，最差一天 {worst}（{by}）。{before}")
                }
            }
        })
        .collect()
}

fn compared(data: &Value, language: Language) -> Vec<String> {
    let mut lines = figures(data, language);
    for baseline in data["baselines"].as_array().into_iter().flatten() {
        let name = baseline["name"].as_str().unwrap_or_default();
        let gain = percent(&baseline["return_pct"]);
        lines.push(match language {
            Language::English => format!("{name} over the same days: return {gain}."),
            Language::Chinese => format!("同期 {name}：收益 {gain}。"),
        });
    }
    lines.push(match language {
        Language::English => "This describes what happened; it does not prove that one is better.".to_owned(),
        Language::Chinese => "以上仅描述发生的情况，不能证明孰优。".to_owned(),
    });
    lines
}

fn said(data: &Value, language: Language) -> Vec<String> {
    let messages = data["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let spoken = messages.iter().rev().find(|message| message["role"] == "assistant");
    let Some(spoken) = spoken else { return Vec::new() };
    let (date, model) = (&spoken["date"], &spoken["model"]);
    let (date, model) = (date.as_str().unwrap_or_default(), model.as_str().unwrap_or_default());
    let words = quoted(spoken["content"].as_str().unwrap_or_default());
    vec![match language {
        Language::English => format!("On {date} {model} said: “{words}”"),
        Language::Chinese => format!("{date} 当天 {model} 说：“{words}”"),
    }]
}

fn listed(message: &str, list: &Value, key: &str, language: Language) -> Vec<String> {
    let mut lines = vec![message.to_owned()];
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let most = if key == "name" { list.len() } else { TOLD };
    lines.extend(list.iter().take(most).map(|one| {
        let id = one["plan_id"].as_i64().map(|id| format!("{id} ")).unwrap_or_default();
        let what = one["what"].as_str().map(|what| format!(": {what}")).unwrap_or_default();
        format!("- {id}{}{what}", quoted(one[key].as_str().unwrap_or_default()))
    }));
    if list.len() > most {
        let more = list.len() - most;
        lines.push(match language {
            Language::English => format!("and {more} more"),
            Language::Chinese => format!("另有 {more} 条"),
        });
    }
    lines
}

fn tasks(list: &Value, depth: usize, lines: &mut Vec<String>) {
    for task in list.as_array().into_iter().flatten() {
        let (id, name) = (&task["task_id"], task["name"].as_str().unwrap_or_default());
        let status = task["status"].as_str().unwrap_or_default();
        let result =
            task["result"].as_str().map(|result| format!(" — {}", quoted(result))).unwrap_or_default();
        lines.push(format!("{}- {id} {name} [{status}]{result}", "  ".repeat(depth)));
        tasks(&task["children"], depth + 1, lines);
    }
}

/// The beginning of a text, on one line.
fn quoted(text: &str) -> String {
    let said = text.lines().filter(|line| !words::is_label(line));
    let line = said.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(QUOTED_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

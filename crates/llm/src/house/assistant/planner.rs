//! Work broken up by rules: a part for each thing that is asked for. What asks for one thing is a leaf.

use super::super::day::Language;
use super::Question;
use super::ask::{Backtest, Wanted, Who};
use serde_json::{Value, json};

/// The children of a piece of work, in the planner's form.
pub(super) fn children(words: &str, language: Language) -> String {
    let wanted = Wanted::read(&Question { words, before: "" }, false);
    let mut parts: Vec<(String, String, bool)> = Vec::new();
    let chinese = language == Language::Chinese;
    let mut part = |name: (&str, &str), instruction: (String, String), on_run: bool| {
        let (name, instruction) =
            if chinese { (name.1.to_owned(), instruction.1) } else { (name.0.to_owned(), instruction.0) };
        parts.push((name, instruction, on_run));
    };
    let runs = wanted.backtests.len();
    for (backtest, n) in wanted.backtests.iter().zip(1..) {
        let (name, name_zh) = match runs {
            1 => ("Run the backtest".to_owned(), "运行回测".to_owned()),
            _ => (format!("Run backtest {n}"), format!("运行回测 {n}")),
        };
        part((&name, &name_zh), run(backtest), false);
    }
    if wanted.compare {
        let instruction =
            ("Compare the run with buy and hold.".to_owned(), "将该运行与买入持有比较。".to_owned());
        part(("Compare", "比较"), instruction, true);
    }
    if let Some(days) = wanted.why {
        let (english, days_zh) = match days {
            Some(days) => {
                (format!(" from {} to {}", days.from, days.to), format!("从 {} 到 {} ", days.from, days.to))
            }
            None => (String::new(), String::new()),
        };
        let instruction = (format!("Why did it lose{english}?"), format!("为什么{days_zh}亏损？"));
        part(("Find the reason", "查明原因"), instruction, true);
    } else if wanted.results && (wanted.backtests.is_empty() || wanted.compare) {
        let instruction = ("Show the results of the run.".to_owned(), "显示该运行的结果。".to_owned());
        part(("Read the results", "读取结果"), instruction, true);
    }
    if let Some(query) = &wanted.memory {
        let instruction = (format!("Search memory for {query}."), format!("搜索记忆：{query}。"));
        part(("Search memory", "搜索记忆"), instruction, true);
    }
    if let Some(query) = &wanted.web {
        let instruction = (format!("Search the web for {query}."), format!("联网搜索：{query}。"));
        part(("Search the web", "联网搜索"), instruction, false);
    }
    if parts.len() < 2 {
        return json!({ "children": [] }).to_string();
    }
    let children: Vec<Value> = parts
        .into_iter()
        .map(|(name, instruction, on_run)| {
            let dependencies: Vec<usize> = if on_run { (0..runs).collect() } else { Vec::new() };
            json!({ "name": name, "instruction": instruction, "dependencies": dependencies })
        })
        .collect();
    json!({ "children": children }).to_string()
}

/// A backtest in words that say it whole.
fn run(backtest: &Backtest) -> (String, String) {
    let (who, who_zh) = match &backtest.who {
        Who::Models(models) => (models.join(" and "), models.join(" 和 ")),
        Who::Desk(model) => (format!("a desk of {model}"), format!("{model} 的投研团队")),
    };
    let symbols = backtest.symbols.join(", ");
    let (from, to) = (backtest.period.from, backtest.period.to);
    match symbols.is_empty() {
        true => {
            (format!("Backtest {who} from {from} to {to}."), format!("回测 {who_zh}，从 {from} 到 {to}。"))
        }
        false => (
            format!("Backtest {who} on {symbols} from {from} to {to}."),
            format!("回测 {who_zh}，标的 {symbols}，从 {from} 到 {to}。"),
        ),
    }
}

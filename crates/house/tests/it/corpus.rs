//! A hundred and fifty requests, and what the house's assistant does for each.

use crate::assistant::{asked, reply};
use papertape_core::message::{Message, ModelRequest};
use serde_json::Value;

const REQUESTS: &str = include_str!("../fixtures/assistant/requests.txt");
const TRADERS: &str = include_str!("../fixtures/assistant/traders.txt");
const STRANGERS: &str = include_str!("../fixtures/assistant/strangers.txt");

/// The request of a person who reads the language of its words, after earlier ones.
pub(crate) fn put(words: &str) -> ModelRequest {
    let (earlier, words) = words.rsplit_once(" >> ").map_or((None, words), |(one, two)| (Some(one), two));
    let is_chinese = words.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    let data = "us, 2000-01-03 to 2013-12-31, AAPL, FB, GOOG, IBM, MSFT";
    let (role, question) = match is_chinese {
        true => (
            "角色：Papertape 助手",
            format!("已配置的交易员：careful, bold\n数据集：{data}\n用户说：\n{words}"),
        ),
        false => (
            "Role: Papertape assistant",
            format!("Configured agents: careful, bold\nDatasets: {data}\nUser message:\n{words}"),
        ),
    };
    let mut request = asked(&question, role, &[]);
    if let Some(earlier) = earlier {
        let answer =
            Message::Assistant { content: "Done.".to_owned(), tool_calls: Vec::new(), provider: None };
        request.messages.splice(0..0, [Message::user(earlier.to_owned()), answer]);
    }
    request
}

/// What it repeats as understood; `None` where it does nothing.
fn understood(answer: &Value) -> Option<String> {
    let message = answer["llm_reply"]["message"].as_str().expect("words");
    if answer["actions"].as_array().expect("actions").is_empty() {
        return None;
    }
    let line = message.lines().next()?;
    let line = line.strip_prefix("Understood: ").or_else(|| line.strip_prefix("理解为："))?;
    Some(line.trim_end_matches(['.', '。']).replace('；', "; ").replace("; ", ";"))
}

/// Goal: the examples of the documentation are read as requests, in both languages.
#[test]
fn the_documented_examples_are_read() {
    let page = include_str!("../../../../docs/assistant.md");
    let section = page.split("## What `house::assistant` understands").nth(1).expect("the section");
    let rows = section.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    let rows: Vec<&str> = rows.take_while(|line| !line.starts_with("| not said")).collect();
    assert_eq!(rows.len(), 15, "{rows:#?}");
    let check = |words: &str| {
        let answer = reply(&put(words));
        assert!(understood(&answer).is_some(), "{words}: {answer}");
    };
    for row in &rows {
        let examples: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        assert!(examples.len() > 1, "{row}");
        examples.into_iter().for_each(check);
    }
    let follow_ups = section.lines().find(|line| line.starts_with("A follow-up")).expect("follow-ups");
    for words in follow_ups.split('`').skip(1).step_by(2) {
        check(&format!("backtest momentum on AAPL for 2012 >> {words}"));
    }
}

/// Goal: every request is done as it was said and repeated, or nothing is done and the words in the way are named.
/// What is repeated is read as the same again.
#[test]
fn all_requests_are_right_or_asked_back() {
    let mut wrong = Vec::new();
    let lines = REQUESTS
        .lines()
        .chain(TRADERS.lines())
        .chain(STRANGERS.lines())
        .filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for line in lines {
        count += 1;
        let (words, expected) = line.split_once('\t').expect("a request and what is done");
        let answer = reply(&put(words));
        let message = answer["llm_reply"]["message"].as_str().expect("words").to_owned();
        let done = understood(&answer);
        match expected.strip_prefix("asks: ") {
            Some(named) => {
                let names =
                    named.split(" | ").all(|one| message.to_lowercase().contains(&one.to_lowercase()));
                if done.is_some() || !names {
                    wrong.push(format!("{words}\n  expected to ask about {named}\n  {message}"));
                }
            }
            None => {
                let expected = expected.replace('；', "; ").replace("; ", ";");
                if done.as_deref() != Some(&*expected) {
                    wrong.push(format!("{words}\n  expected {expected}\n  {done:?} {message}"));
                } else {
                    let again = expected.replace("；", "; ");
                    let echoed = understood(&reply(&put(&again)));
                    if echoed.as_deref() != Some(&*expected) {
                        wrong.push(format!(
                            "{again}\n  is not read as the same: {echoed:?} {}",
                            reply(&put(&again))["llm_reply"]["message"]
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(count, 150);
}

/// Goal: a follow-up changes a request that was read whole, and no other: not one that was cut, not one that was stopped,
/// and not two slots at once.
#[test]
fn a_follow_up_changes_one_slot_of_a_whole_request() {
    let long = format!("backtest momentum on AAPL for 2012{} without IBM", " please".repeat(600));
    let cut: String = long.chars().take(4_000).collect();
    for words in [
        format!("{cut} >> and GOOG?"),
        "backtest momentum on AAPL for 2012 without stops >> and GOOG?".to_owned(),
        "backtest momentum on AAPL for 2012 >> and IBM for 2011?".to_owned(),
        "list runs >> and IBM?".to_owned(),
    ] {
        let answer = reply(&put(&words));
        assert_eq!(understood(&answer), None, "{words}: {answer}");
    }
    let filled = reply(&put("backtest contrarian on IBM between 1 Oct and 15 Nov >> 2012"));
    assert_eq!(
        understood(&filled).as_deref(),
        Some("backtest house::contrarian on IBM from 2012-10-01 to 2012-11-15 with the configured cash")
    );
}

/// Goal: what is close to a request is asked back rather than read as another one, and a name in capitals is never
/// dropped as a word.
#[test]
fn what_is_close_to_a_request_is_asked_back() {
    for words in [
        "backtest momentum on AAPL from October to 2012",
        "backtest momentum on AAPL in October and November 2012",
        "backtest momentum on AAPL from 2012",
        "backtest momentum on AAPL until 15 Nov 2012",
        "backtest momentum on AAPL from 2012-12-31 to 2012-10-01",
        "backtest momentum on AAPL from 29 Feb to 3 Mar >> 2011",
        "backtest momentum on AAPL 2012 with $12.75k",
        "backtest momentum on AAPL 2012 with $1,234.56",
        "backtest momentum on AAPL in 2012 with 50k and 60k",
        "DON'T BACKTEST MOMENTUM ON AAPL FOR 2012",
        "backtest AAPL with buy and hold in 2012",
        "backtest momentum on IT for 2012",
        "backtest careful desk on IBM in 2012",
        "results of momentum",
        "删除计划",
        "别取消",
        "不要回测动量 AAPL 2012年",
    ] {
        assert_eq!(understood(&reply(&put(words))), None, "{words}");
    }
    for (words, expected) in [
        ("backtest momentum on Apple (AAPL) for 2012", "on AAPL from 2012-01-01"),
        ("backtest momentum on A and ON for 2012", "on A, ON from 2012-01-01"),
        (
            "backtest momentum on msft ibm 2012 with 2.5k",
            "on MSFT, IBM from 2012-01-01 to 2012-12-31 with 2,500 cash",
        ),
        ("backtest momentum on AAPL Nov to Jan 2013", "from 2012-11-01 to 2013-01-31"),
        ("backtest momentum on AAPL in H1 2012", "from 2012-01-01 to 2012-06-30"),
        ("用house::momentum跑 IBM 2012年，资金150万", "资金 1,500,000"),
        ("decompose plan 3 and execute it", "decompose plan 3;execute it"),
    ] {
        let echo = understood(&reply(&put(words)));
        assert!(echo.as_deref().is_some_and(|echo| echo.contains(expected)), "{words}: {echo:?}");
    }
}

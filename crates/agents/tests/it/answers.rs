//! Structured answers: parsed in any format, never guessed, and rendered so that they can be parsed again.

use papertape_agents::desk::answer::{
    Action, PortfolioDecision, Rating, ResearchPlan, Structured, TraderProposal, parse_number,
};
use papertape_core::json::to_value;
use papertape_core::language::Language;
use papertape_core::money::Price;
use proptest::prelude::*;
use rust_decimal::Decimal;
use serde_json::{Value, json};

fn read<T: Structured + serde::Serialize>(text: &str) -> Result<Value, String> {
    T::parse(text).map(|answer| to_value(&answer)).map_err(|error| error.reason)
}

fn read_role(role: &str, text: &str) -> Result<Value, String> {
    match role {
        ResearchPlan::NAME => read::<ResearchPlan>(text),
        TraderProposal::NAME => read::<TraderProposal>(text),
        PortfolioDecision::NAME => read::<PortfolioDecision>(text),
        other => panic!("no role {other}"),
    }
}

// Goal: every hard answer of the corpus is parsed as a careful reader would, or rejected for the right
// reason.
#[test]
fn hard_answers() {
    let mut wrong = Vec::new();
    for line in include_str!("answers/hard.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let (name, role) = (case["name"].as_str().expect("a name"), case["role"].as_str().expect("a role"));
        let got = read_role(role, case["text"].as_str().expect("a text"));
        let fits = match (&got, case["refused"].as_str()) {
            (Err(reason), Some(why)) => reason.contains(why),
            (Ok(answer), None) => {
                let wanted = case["is"].as_object().expect("what it is");
                wanted.iter().all(|(key, value)| answer.get(key).unwrap_or(&Value::Null) == value)
            }
            _ => false,
        };
        if !fits {
            wrong.push(format!("{name}: {got:?}, wanted {}{}", case["is"], case["refused"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn opinion(role: &str, text: &str) -> Result<String, String> {
    let key = match role {
        ResearchPlan::NAME => "recommendation",
        TraderProposal::NAME => "action",
        _ => "rating",
    };
    read_role(role, text).map(|answer| answer[key].as_str().expect("an opinion").to_owned())
}

// Goal: no answer from a model is parsed as an opinion other than the one it states: the result is its
// opinion or unparseable; and answers in an accepted format are parsed.
#[test]
fn no_answer_is_misread() {
    let mut wrong = Vec::new();
    let (mut cases, mut read) = (0, 0);
    for line in include_str!("answers/opinions.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let (role, text) = (case["role"].as_str().expect("a role"), case["text"].as_str().expect("a text"));
        let got = opinion(role, text);
        cases += 1;
        read += usize::from(got.is_ok());
        let right = match &got {
            Ok(opinion) => case["truth"] == json!(opinion),
            Err(reason) => !reason.is_empty() && case["read"] != true,
        };
        if !right {
            wrong.push(format!("{role} {:?}: {got:?}, not {}", text, case["truth"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases >= 150 && read >= 80, "{cases} answers, {read} read");
}

// Goal: an optional field that cannot be parsed is left out with a note, and the decision remains; a size
// that cannot be parsed is retained, so that it gives no order.
#[test]
fn unreadable_fields_are_noted() {
    let text = r#"{"action": "Buy", "reasoning": "x", "entry_price": "market", "stop_loss": "5%", "take_profit": "200-220",
        "leverage": -2, "position_sizing": {"percent": 5}}"#;
    let (proposal, notes) = TraderProposal::read(text).expect("an action");
    assert_eq!((proposal.action, proposal.entry_price, proposal.stop_loss), (Action::Buy, None, None));
    assert_eq!((proposal.take_profit, proposal.leverage), (None, None));
    assert_eq!(proposal.position_sizing.as_deref(), Some("{percent: 5}"));
    let named = ["entry_price", "stop_loss", "take_profit", "leverage"];
    assert_eq!(notes.len(), named.len(), "{notes:?}");
    for (note, field) in notes.iter().zip(named) {
        assert!(note.starts_with(&format!("`{field}` was left out: ")), "{note}");
    }
    let (decision, notes) =
        PortfolioDecision::read(r#"{"rating": "Hold", "time_horizon": [1], "price_target": NaN}"#)
            .expect("a rating");
    assert_eq!((decision.rating, decision.time_horizon, decision.price_target), (Rating::Hold, None, None));
    assert_eq!(notes.len(), 2, "{notes:?}");
    let (_, notes) = PortfolioDecision::read(r#"{"rating": "Hold"}"#).expect("a rating");
    assert!(notes.is_empty(), "{notes:?}");
}

// Goal: a megabyte of anything is parsed in linear time. With quadratic parsing, this test would not end.
#[test]
fn a_megabyte_is_read() {
    let pieces = [
        "{",
        "{\"a\":",
        "{\"rating\": \"Buy",
        "[",
        "{\"a\": \"\" \"",
        "Rating: Buy\n",
        "my rating is ",
        "rating: ",
        "final rating: x ",
        "| Rating | Buy |\n",
        "| Rating | Target |\n|---|---|\n",
        "Rating:\n\n",
        "## Rating\n",
        "。",
        "\"   ",
        "//",
        "/*",
        "'",
        "\\",
        "> ",
        "the final ",
        "最终评级",
        "Rationale: x\n\n",
        "**",
        "(",
        "```\n",
        "1",
        "1,",
        "5-",
        "\u{200b}",
    ];
    for (n, piece) in pieces.into_iter().enumerate() {
        // A megabyte of every third text, so that this is not the slowest test.
        let length = if n % 3 == 0 { 1_000_000 } else { 150_000 };
        let _ = PortfolioDecision::parse(&piece.repeat(length / piece.len()));
    }
    let inner = "He said 'buy' and left. ".repeat(20_000);
    assert!(
        PortfolioDecision::parse(&format!("{{\"rating\": \"Hold\", \"executive_summary\": \"{inner}\"}}"))
            .is_ok()
    );
    let long = "5".repeat(1_000_000);
    assert!(
        TraderProposal::parse(&format!("Action: Buy\nStop Loss: {long}\nPosition Sizing: {long}")).is_ok()
    );
}

// Goal: numbers with signs, thousands separators and units are parsed; anything else is rejected.
#[test]
fn numbers() {
    let cases = [
        ("$1,234.50", "1234.50"),
        ("USD 189.5", "189.5"),
        ("189.5 USD", "189.5"),
        ("HK$ 12", "12"),
        ("€0.05", "0.05"),
        ("12.5%", "0.125"),
        ("1.2万", "12000"),
        ("3亿元", "300000000"),
        ("１８０．５", "180.5"),
        ("$1.5M", "1500000"),
        ("2 million", "2000000"),
        ("-7", "-7"),
        ("-$3.20", "-3.2"),
        ("1e3", "1000"),
        ("180.5 (the 20-day average)", "180.5"),
        ("约 8.5 元", "8.5"),
        ("**42**", "42"),
    ];
    for (text, wanted) in cases {
        assert_eq!(
            parse_number(text).map(|n| n.normalize().to_string()),
            Ok(wanted.parse::<Decimal>().expect("a number").normalize().to_string()),
            "{text}"
        );
    }
    for text in [
        "",
        "NaN",
        "inf",
        "-inf",
        "ten",
        "1,23",
        "1,2345",
        "12,34,567",
        "1.2.3",
        "180-185",
        "5 or 6",
        "1e400",
        "99999999999999999999999999999999",
    ] {
        assert!(parse_number(text).is_err(), "{text}: {:?}", parse_number(text));
    }
}

// Goal: the schemas have the strict form that providers accept: all properties required, no others, optional
// ones nullable, and no keyword that a provider rejects.
#[test]
fn schemas_are_strict() {
    for (schema, count) in
        [(ResearchPlan::schema(), 3), (TraderProposal::schema(), 7), (PortfolioDecision::schema(), 5)]
    {
        let body = &schema.schema;
        assert_eq!(body["additionalProperties"], json!(false));
        let properties = body["properties"].as_object().expect("properties");
        let required = body["required"].as_array().expect("a list");
        assert_eq!((properties.len(), required.len()), (count, count));
        for (name, property) in properties {
            assert!(required.contains(&json!(name)));
            for key in property.as_object().expect("a schema").keys() {
                assert!(["type", "enum", "description"].contains(&key.as_str()), "{name}.{key}");
            }
        }
        assert!(schema.name.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
    }
}

// Goal: the rendered texts, in both languages.
#[test]
fn renders_read_well() {
    let proposal = TraderProposal {
        action: Action::Buy,
        reasoning: "The trend is up.".to_owned(),
        entry_price: Some(Price("189.50".parse().expect("a number"))),
        stop_loss: Some(Price("180".parse().expect("a number"))),
        take_profit: None,
        leverage: None,
        position_sizing: Some("5% of portfolio".to_owned()),
    };
    assert_eq!(
        proposal.render(Language::En),
        "**Action**: Buy\n\n**Reasoning**: The trend is up.\n\n**Entry Price**: 189.5\n\n**Stop Loss**: 180\n\n\
         **Position Sizing**: 5% of portfolio\n\nFINAL TRANSACTION PROPOSAL: **BUY**"
    );
    let plan = ResearchPlan {
        recommendation: Rating::Underweight,
        rationale: "涨幅过大。\n评级：买入 是多头的看法。".to_owned(),
        strategic_actions: String::new(),
    };
    assert_eq!(
        plan.render(Language::Zh),
        "**建议**：减持\n\n**理由**：涨幅过大。\n\\评级：买入 是多头的看法。\n\n**行动计划**："
    );
}

/// Texts with everything that could be mistaken for a part of an answer.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("**Rating**: Sell".to_owned()),
        Just("FINAL TRANSACTION PROPOSAL: **SELL**".to_owned()),
        Just("最终评级：卖出".to_owned()),
        Just("## Recommendation".to_owned()),
        Just("| Rating | Sell |".to_owned()),
        Just("| Action | Stop Loss |\n|---|---|\n| Sell | 3 |".to_owned()),
        Just("{\"rating\":\"Sell\",\"recommendation\":\"Sell\",\"action\":\"Sell\"}".to_owned()),
        Just("```json".to_owned()),
        Just("```".to_owned()),
        Just("\\Rating: Sell".to_owned()),
        Just("\\\\{".to_owned()),
        Just("> I recommend selling.".to_owned()),
        Just("- Stop Loss: 5".to_owned()),
        Just("Reasoning:".to_owned()),
        "\\PC{0,30}",
        "[ \\t\\r\\n*_#|:{}\\\\`a-c-]{0,12}",
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.join("\n"))
}

fn language() -> impl Strategy<Value = Language> {
    prop_oneof![Just(Language::En), Just(Language::Zh)]
}

fn price() -> impl Strategy<Value = Option<Price>> {
    prop::option::of((1_i64..10_000_000, 0_u32..6).prop_map(|(n, dp)| Price(Decimal::new(n, dp).normalize())))
}

/// A short text, retained when it is not empty.
fn note() -> impl Strategy<Value = Option<String>> {
    prop_oneof![Just(None), Just(Some("5% of portfolio".to_owned())), Just(Some("3 至 6 个月".to_owned()))]
}

proptest! {
    // Goal: no text makes a parser panic, and a text without a word for an opinion never has one.
    #[test]
    fn any_text_is_read_or_refused(text in prop_oneof![nasty(), "\\PC{0,200}", ".{0,200}"]) {
        for role in [ResearchPlan::NAME, TraderProposal::NAME, PortfolioDecision::NAME] {
            if let Err(reason) = read_role(role, &text) {
                prop_assert!(!reason.is_empty());
            }
        }
        let _ = parse_number(&text);
    }

    // Goal: without a word for an opinion there is no opinion, in particular no Hold.
    #[test]
    fn no_word_no_opinion(text in "[f-gj-nq-rv-xz0-9 .,:{}\"*#\\n-]{0,200}") {
        prop_assert!(ResearchPlan::parse(&text).is_err());
        prop_assert!(TraderProposal::parse(&text).is_err());
        prop_assert!(PortfolioDecision::parse(&text).is_err());
    }

    // Goal: a rendered answer is never parsed as a different opinion, whatever its texts contain.
    #[test]
    fn a_plan_survives(n in 0..5_usize, a in nasty(), b in nasty(), language in language()) {
        let plan = ResearchPlan { recommendation: Rating::ALL[n], rationale: a, strategic_actions: b };
        if let Ok(read) = ResearchPlan::parse(&plan.render(language)) {
            prop_assert_eq!(read.recommendation, plan.recommendation);
        }
    }

    #[test]
    fn a_proposal_survives(
        n in 0..3_usize, a in nasty(), prices in (price(), price(), price()), leverage in price(), sizing in note(), language in language(),
    ) {
        let proposal = TraderProposal {
            action: Action::ALL[n], reasoning: a, entry_price: prices.0, stop_loss: prices.1, take_profit: prices.2,
            leverage: leverage.map(|p| p.0), position_sizing: sizing,
        };
        if let Ok(read) = TraderProposal::parse(&proposal.render(language)) {
            let wanted = TraderProposal { reasoning: read.reasoning.clone(), ..proposal };
            prop_assert_eq!(read, wanted);
        }
    }

    #[test]
    fn a_decision_survives(
        n in 0..5_usize, a in nasty(), b in nasty(), target in price(), horizon in note(), language in language(),
    ) {
        let decision = PortfolioDecision {
            rating: Rating::ALL[n], executive_summary: a, investment_thesis: b, price_target: target, time_horizon: horizon,
        };
        if let Ok(read) = PortfolioDecision::parse(&decision.render(language)) {
            prop_assert_eq!(read.rating, decision.rating);
        }
    }

    // Goal: with texts that name no rating, a rendered answer is parsed as the original.
    #[test]
    fn plain_texts_survive(n in 0..5_usize, a in "[a-g ,.]{1,40}", target in price(), horizon in note(), language in language()) {
        let text = format!("x{a}x");
        let (executive_summary, investment_thesis) = (text.clone(), format!("{text}\n\nMore."));
        let decision = PortfolioDecision { rating: Rating::ALL[n], executive_summary, investment_thesis, price_target: target, time_horizon: horizon };
        prop_assert_eq!(PortfolioDecision::parse(&decision.render(language)), Ok(decision));
    }

    // Goal: JSON gives the same answer in every format that models use.
    #[test]
    fn the_form_does_not_matter(n in 0..5_usize, text in "[a-z ']{0,30}", form in 0..8_usize) {
        let rating = Rating::ALL[n].as_str();
        let quoted = json!(text).to_string();
        let text_of = match form {
            0 => format!("{{\"rating\": \"{rating}\", \"executive_summary\": {quoted}, \"investment_thesis\": \"y\"}}"),
            1 => format!("```json\n{{\"rating\": \"{rating}\", \"executive_summary\": {quoted}, \"investment_thesis\": \"y\",}}\n```"),
            2 => format!("{{'rating': '{rating}', 'executive_summary': {quoted}, 'investment_thesis': 'y'}}"),
            3 => format!("{{ // mine\n rating: \"{rating}\", /* why */ executive_summary: {quoted}, investment_thesis: \"y\" }}"),
            4 => format!("{{\"output\": {{\"rating\": \"{rating}\", \"executive_summary\": {quoted}, \"investment_thesis\": \"y\"}}}}"),
            5 => format!("Here it is:\n{{\"rating\": \"{rating}\", \"executive_summary\": {quoted}, \"investment_thesis\": \"y\"}}\nDone."),
            6 => format!("{{\"investment_thesis\": \"y\", \"executive_summary\": {quoted}, \"rating\": \"**{rating}**\"}}"),
            _ => format!("[{{\"rating\": \"{rating}\", \"executive_summary\": {quoted}, \"investment_thesis\": \"y\"}}]"),
        };
        let read = PortfolioDecision::parse(&text_of).map_err(|error| TestCaseError::fail(format!("{error}: {text_of}")))?;
        prop_assert_eq!(read.rating, Rating::ALL[n]);
        prop_assert_eq!(read.executive_summary, text.trim());
        prop_assert_eq!(read.investment_thesis, "y");
    }
}

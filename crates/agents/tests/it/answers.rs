//! Structured answers: read from whatever form they come in, never guessed, and rendered so that they
//! can be read again.

use papertape_agents::config::Language;
use papertape_agents::desk::answer::{
    Action, PortfolioDecision, Rating, ResearchPlan, Structured, TraderProposal, parse_number,
};
use papertape_core::json::to_value;
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

// Goal: every hard answer of the corpus is read as a careful reader would, or refused for the right
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

// Goal: numbers with signs, thousands, units; what is none is refused.
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

// Goal: the schemas are the strict form that providers take: all properties required, no others, what
// may be absent nullable, and no keyword that one of them refuses.
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

// Goal: the texts themselves, in both languages.
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

/// Texts with everything in them that could be taken for a part of an answer.
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

fn cleaned(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").trim().to_owned()
}

fn language() -> impl Strategy<Value = Language> {
    prop_oneof![Just(Language::En), Just(Language::Zh)]
}

fn price() -> impl Strategy<Value = Option<Price>> {
    prop::option::of((1_i64..10_000_000, 0_u32..6).prop_map(|(n, dp)| Price(Decimal::new(n, dp).normalize())))
}

/// A short text that is kept where it says something.
fn note() -> impl Strategy<Value = Option<String>> {
    prop_oneof![Just(None), Just(Some("5% of portfolio".to_owned())), Just(Some("3 至 6 个月".to_owned()))]
}

proptest! {
    // Goal: no text makes a reader panic, and a text without any word for an opinion never has one.
    #[test]
    fn any_text_is_read_or_refused(text in prop_oneof![nasty(), "\\PC{0,200}", ".{0,200}"]) {
        for role in [ResearchPlan::NAME, TraderProposal::NAME, PortfolioDecision::NAME] {
            if let Err(reason) = read_role(role, &text) {
                prop_assert!(!reason.is_empty());
            }
        }
        let _ = parse_number(&text);
    }

    // Goal: without a word for an opinion there is no opinion, and never a Hold.
    #[test]
    fn no_word_no_opinion(text in "[f-gj-nq-rv-xz0-9 .,:{}\"*#\\n-]{0,200}") {
        prop_assert!(ResearchPlan::parse(&text).is_err());
        prop_assert!(TraderProposal::parse(&text).is_err());
        prop_assert!(PortfolioDecision::parse(&text).is_err());
    }

    // Goal: what is rendered reads as what it was, whatever its texts hold.
    #[test]
    fn a_plan_survives(n in 0..5_usize, a in nasty(), b in nasty(), language in language()) {
        let plan = ResearchPlan { recommendation: Rating::ALL[n], rationale: a, strategic_actions: b };
        let wanted = ResearchPlan { rationale: cleaned(&plan.rationale), strategic_actions: cleaned(&plan.strategic_actions), ..plan.clone() };
        prop_assert_eq!(ResearchPlan::parse(&plan.render(language)), Ok(wanted));
    }

    #[test]
    fn a_proposal_survives(
        n in 0..3_usize, a in nasty(), prices in (price(), price(), price()), leverage in price(), sizing in note(), language in language(),
    ) {
        let proposal = TraderProposal {
            action: Action::ALL[n], reasoning: a, entry_price: prices.0, stop_loss: prices.1, take_profit: prices.2,
            leverage: leverage.map(|p| p.0), position_sizing: sizing,
        };
        let wanted = TraderProposal { reasoning: cleaned(&proposal.reasoning), ..proposal.clone() };
        prop_assert_eq!(TraderProposal::parse(&proposal.render(language)), Ok(wanted));
    }

    #[test]
    fn a_decision_survives(
        n in 0..5_usize, a in nasty(), b in nasty(), target in price(), horizon in note(), language in language(),
    ) {
        let decision = PortfolioDecision {
            rating: Rating::ALL[n], executive_summary: a, investment_thesis: b, price_target: target, time_horizon: horizon,
        };
        let wanted = PortfolioDecision {
            executive_summary: cleaned(&decision.executive_summary), investment_thesis: cleaned(&decision.investment_thesis), ..decision.clone()
        };
        prop_assert_eq!(PortfolioDecision::parse(&decision.render(language)), Ok(wanted));
    }
}

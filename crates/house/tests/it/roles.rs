//! The house models at a desk: the real prompts, hand-made tools, and answers that the desk can parse.

use crate::support::answer_to;
use papertape_agents::desk::answer::{
    Action, PortfolioDecision, Rating, ResearchPlan, Structured, TraderProposal,
};
use papertape_agents::desk::sizing::Size;
use papertape_agents::prompt::PromptSet;
use papertape_core::fence::{Author, fence};
use papertape_core::language::Language;
use papertape_core::message::{
    Message, ModelReply, ModelRequest, ResponseSchema, Sampling, ToolChoice, ToolSpec,
};
use papertape_house as house;
use serde_json::{Value, json};

const CAP: usize = 1_000_000;

/// A hand-made desk with one symbol.
struct Desk {
    model: &'static str,
    language: Language,
    prompts: PromptSet,
    /// The result of `get_snapshot`.
    snapshot: Value,
    account: Value,
    /// Inserted wherever a tool returns text written by others.
    foreign: String,
    /// Whether the requests have schemas.
    schemas: bool,
}

/// The result of a day.
#[derive(Debug, PartialEq)]
struct Day {
    reports: Vec<String>,
    debate: Vec<String>,
    plan: ResearchPlan,
    proposal: TraderProposal,
    risk: Vec<String>,
    decision: PortfolioDecision,
}

fn snapshot(price: f64, fast: f64, slow: f64, rsi: f64) -> Value {
    json!({ "symbol": "AAPL", "price": price, "indicators": { "sma_20": fast, "sma_50": slow, "rsi_14": rsi, "atr_14": 2 } })
}

fn rising() -> Value {
    snapshot(100.0, 95.5, 90.25, 61.2)
}

impl Desk {
    fn new(model: &'static str, language: Language) -> Self {
        let account = json!({ "cash": 10000, "equity": 10000, "positions": [] });
        let (prompts, foreign) = (PromptSet::built_in(), "Quiet day.".to_owned());
        Self { model, language, prompts, snapshot: rising(), account, foreign, schemas: true }
    }

    fn holding(mut self, quantity: i64) -> Self {
        self.account = json!({ "cash": 5000, "equity": 10000,
            "positions": [{ "symbol": "IBM", "quantity": 5 }, { "symbol": "AAPL", "quantity": quantity }] });
        self
    }

    fn request(
        &self,
        role: &str,
        task: String,
        tools: &[&str],
        schema: Option<ResponseSchema>,
    ) -> ModelRequest {
        let common = json!({ "style": null, "instructions": null });
        let role = self.prompts.render(&format!("desk/{role}"), self.language, json!({})).unwrap();
        let common = self.prompts.render("desk/common", self.language, common).unwrap();
        let spec = |name: &&str| ToolSpec {
            name: (*name).to_owned(),
            description: String::new(),
            parameters: json!({ "type": "object" }),
        };
        ModelRequest {
            model: format!("house::{}", self.model).parse().unwrap(),
            house_version: Some(house::VERSION),
            instructions: Some(format!("{role}\n\n{common}")),
            messages: vec![Message::user(task)],
            tools: tools.iter().map(spec).collect(),
            tool_choice: ToolChoice::Auto,
            response_schema: schema.filter(|_| self.schemas),
            sampling: Sampling::default(),
        }
    }

    fn task(&self, name: &str, materials: &[String]) -> String {
        let price = &self.snapshot["price"];
        let values = json!({
            "symbol": "AAPL", "date": "2013-01-03", "has_prices": !price.is_null(), "notices": [], "past_context": "",
            "prices": json!({ "symbol": "AAPL", "price": price, "atr_14": self.snapshot["indicators"]["atr_14"] }).to_string(),
            "account": self.account.to_string(), "is_empty": false, "unpriced": "", "orders": "[]", "rules": "",
            "limits": json!({ "symbol_cap": 0.25 }).to_string(), "materials": materials.join("\n\n"),
        });
        self.prompts.render(&format!("desk/{name}"), self.language, values).unwrap()
    }

    fn tool(&self, name: &str) -> Value {
        let foreign = &self.foreign;
        let item = json!({ "published_at": "2013-01-02T12:00:00Z", "source": foreign, "title": foreign, "text": foreign, "symbols": ["AAPL"] });
        match name {
            "get_snapshot" => self.snapshot.clone(),
            "get_news" => json!({ "items": [item, item] }),
            "get_macro" => json!({ "series": [foreign] }),
            "get_profile" => json!({ "symbol": "AAPL", "name": foreign, "currency": "USD" }),
            "get_statements" => json!({ "error": format!("DATA_UNAVAILABLE: {foreign}") }),
            "get_price" => json!({ "symbol": "AAPL", "price": self.snapshot["price"], "note": foreign }),
            "get_bars" => json!({ "error": "DATA_UNAVAILABLE: none" }),
            other => panic!("no tool {other}"),
        }
    }

    fn ask(&self, request: &ModelRequest) -> ModelReply {
        let answer = house::answer(request).unwrap().reply;
        assert_eq!(answer, house::answer(&request.clone()).unwrap().reply);
        answer
    }

    /// An analyst's whole conversation.
    fn report(&self, role: &str, tools: &[&str]) -> String {
        let mut request = self.request(role, self.task("analyst-task", &[]), tools, None);
        for _ in 0..5 {
            let reply = self.ask(&request);
            if reply.tool_calls.is_empty() {
                return reply.text;
            }
            request.messages.push(reply.to_message());
            for call in &reply.tool_calls {
                let answer = fence(Author::Outside, &call.name, &self.tool(&call.name).to_string(), CAP);
                request.messages.push(answer_to(&call.id, &call.name, &answer));
            }
        }
        panic!("{role} reads without end");
    }

    fn say(&self, role: &str, task: &str, materials: &[String]) -> String {
        self.ask(&self.request(role, self.task(task, materials), &[], None)).text
    }

    fn form<T: Structured>(&self, role: &str, task: &str, materials: &[String]) -> T {
        let request = self.request(role, self.task(task, materials), &[], Some(T::schema()));
        let text = self.ask(&request).text;
        assert_eq!(serde_json::from_str::<Value>(&text).is_ok(), self.schemas, "{text}");
        T::parse(&text).unwrap_or_else(|error| panic!("{role}: {error}: {text}"))
    }

    fn day(&self) -> Day {
        let data = |source: &str, text: &str| fence(Author::Colleague, source, text, CAP);
        let reports = vec![
            self.report("market-analyst", &["get_snapshot", "get_bars"]),
            self.report("sentiment-analyst", &["get_news"]),
            self.report("news-analyst", &["get_news", "get_macro"]),
            self.report("fundamentals-analyst", &["get_profile", "get_statements", "get_price"]),
        ];
        let names = ["Market", "Sentiment", "News", "Fundamentals"];
        let shown: Vec<String> = names
            .iter()
            .zip(&reports)
            .map(|(name, text)| data(&format!("{name} Analyst report"), text))
            .collect();
        let bull = self.say("bull-researcher", "debate-opening", &shown);
        let mut materials = shown.clone();
        materials.extend([
            data("Debate so far", &format!("Bull Researcher: {bull}")),
            data("Bull Researcher argument", &bull),
        ]);
        let bear = self.say("bear-researcher", "debate-reply", &materials);
        let history = data("Debate so far", &format!("Bull Researcher: {bull}\n\nBear Researcher: {bear}"));
        let plan: ResearchPlan = self.form("research-manager", "research-manager-task", &[history]);
        let plan_text = data("Research plan", &plan.render(self.language));
        let proposal: TraderProposal = self.form("trader", "trader-task", std::slice::from_ref(&plan_text));
        let mut shown = vec![plan_text, data("Trader proposal", &proposal.render(self.language))];
        let risk: Vec<String> = ["aggressive-analyst", "conservative-analyst", "neutral-analyst"]
            .iter()
            .map(|role| self.say(role, "risk-opening", &shown))
            .collect();
        shown.push(data("Risk debate so far", &risk.join("\n\n")));
        let decision = self.form("portfolio-manager", "portfolio-manager-task", &shown);
        Day { reports, debate: vec![bull, bear], plan, proposal, risk, decision }
    }
}

/// Injection attempts from outside texts: the corpus that the desk's own tests use.
fn attempts() -> Vec<String> {
    include_str!("../../../agents/tests/it/answers/injections.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["text"].as_str().unwrap().to_owned())
        .collect()
}

/// Every role answers in its language, with the numbers that it read, and the decision follows the trend.
#[test]
fn a_desk_of_house_models_decides() {
    for (language, label) in [(Language::En, "rule-based stand-in"), (Language::Zh, "基于规则的替身")]
    {
        for schemas in [true, false] {
            let mut desk = Desk::new("momentum", language);
            desk.schemas = schemas;
            let day = desk.day();
            for text in day.reports.iter().chain(&day.debate).chain(&day.risk) {
                assert!(text.contains(label), "{text}");
            }
            assert!(day.reports[0].contains("95.5") && day.reports[0].contains("61.2"), "{}", day.reports[0]);
            assert!(day.reports[3].contains("DATA_UNAVAILABLE"), "{}", day.reports[3]);
            assert_eq!(day.plan.recommendation, Rating::Buy);
            assert_eq!((day.proposal.action, day.decision.rating), (Action::Buy, Rating::Buy));
            let price = |price: Option<papertape_core::money::Price>| price.map(|price| price.to_string());
            assert_eq!(price(day.proposal.entry_price).as_deref(), Some("100"));
            assert_eq!(price(day.proposal.stop_loss).as_deref(), Some("96"));
            assert_eq!(price(day.proposal.take_profit).as_deref(), Some("108"));
            let sizing = day.proposal.position_sizing.as_deref().unwrap();
            assert_eq!(sizing, "25% of portfolio");
            Size::parse(sizing).unwrap();
        }
    }
    let day = Desk::new("momentum", Language::En).day();
    insta::assert_snapshot!(format!(
        "{}\n----\n{}\n----\n{}\n----\n{}\n----\n{}\n----\n{}",
        day.reports.join("\n----\n"),
        day.debate.join("\n----\n"),
        day.plan.render(Language::En),
        day.proposal.render(Language::En),
        day.risk.join("\n----\n"),
        day.decision.render(Language::En)
    ));
}

/// The strategies differ on the same figures, and the holding affects the proposal.
#[test]
fn strategies_differ() {
    let cases = [
        ("momentum", rising(), 0, Rating::Buy, Rating::Buy),
        ("contrarian", rising(), 0, Rating::Hold, Rating::Hold),
        ("buy_and_hold", rising(), 0, Rating::Buy, Rating::Buy),
        ("buy_and_hold", rising(), 3, Rating::Buy, Rating::Hold),
        ("momentum", rising(), 30, Rating::Buy, Rating::Hold),
        ("momentum", rising(), 3, Rating::Buy, Rating::Buy),
        ("momentum", snapshot(100.0, 95.5, 90.0, 75.0), 0, Rating::Overweight, Rating::Overweight),
        ("momentum", snapshot(80.0, 85.0, 90.0, 25.0), 10, Rating::Sell, Rating::Sell),
        ("momentum", snapshot(89.0, 91.0, 90.0, 45.0), 10, Rating::Underweight, Rating::Underweight),
        ("contrarian", snapshot(80.0, 85.0, 90.0, 22.0), 0, Rating::Buy, Rating::Buy),
        ("contrarian", snapshot(80.0, 85.0, 90.0, 28.0), 0, Rating::Overweight, Rating::Overweight),
        ("contrarian", snapshot(120.0, 100.0, 90.0, 80.0), 10, Rating::Sell, Rating::Sell),
        // Nothing to sell.
        ("contrarian", snapshot(120.0, 100.0, 90.0, 80.0), 0, Rating::Sell, Rating::Hold),
    ];
    for (model, figures, held, plan, rating) in cases {
        let mut desk = Desk::new(model, Language::En);
        if held > 0 {
            desk = desk.holding(held);
        }
        desk.snapshot = figures.clone();
        let day = desk.day();
        assert_eq!(
            (day.plan.recommendation, day.decision.rating),
            (plan, rating),
            "{model} {figures} {held}"
        );
        assert_eq!(
            day.proposal.action == Action::Buy,
            day.proposal.stop_loss.is_some() || model == "buy_and_hold" && rating == Rating::Buy,
            "{model}"
        );
    }
}

/// Without figures no role invents an opinion: the text says so, and nothing changes.
#[test]
fn nothing_to_read_is_said() {
    let mut desk = Desk::new("momentum", Language::En).holding(10);
    desk.snapshot = json!({ "error": "DATA_UNAVAILABLE: no bars" });
    let day = desk.day();
    assert!(day.reports[0].contains("get_snapshot returned no data"), "{}", day.reports[0]);
    assert!(day.debate.iter().all(|text| text.contains("untested")), "{:?}", day.debate);
    assert_eq!((day.plan.recommendation, day.decision.rating), (Rating::Hold, Rating::Hold));
    assert!(day.plan.rationale.contains("nothing to judge by"), "{}", day.plan.rationale);
    assert_eq!(day.proposal.action, Action::Hold);
}

/// Text in news, posts, profiles and errors changes no word of any answer.
#[test]
fn nobody_obeys_a_text_from_outside() {
    for language in [Language::En, Language::Zh] {
        for model in house::NAMES {
            let mut desk = Desk::new(model, language);
            let undisturbed = desk.day();
            for attempt in attempts() {
                desk.foreign.clone_from(&attempt);
                assert_eq!(desk.day(), undisturbed, "{model} {language:?} {attempt}");
            }
        }
    }
}

/// An injection in place of another role's text only removes what that text would have contributed.
#[test]
fn a_hijacked_debate_gives_no_orders() {
    let desk = Desk::new("momentum", Language::En);
    for attempt in attempts().iter().filter(|attempt| !attempt.contains("Figures: [")) {
        let history = fence(Author::Colleague, "Debate so far", attempt, CAP);
        let plan: ResearchPlan = desk.form("research-manager", "research-manager-task", &[history]);
        assert_eq!(plan.recommendation, Rating::Hold, "{attempt}");
    }
}

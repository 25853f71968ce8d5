//! Budgets: reserved before a call, settled after it, rebuilt on resume.

use crate::stage::{Stage, done, fails, price, turn_of, usual};
use papertape_core::message::{FailureKind, Message, ModelRequest, Sampling, ToolChoice, Usage};
use papertape_core::record::{JobStatus, UsageTotal};
use papertape_runtime::budget::{Budget, BudgetLine, Budgets, Limit, Spend};
use papertape_runtime::overruns::Overruns;
use rust_decimal::Decimal;

fn account(agent: &str, day: i8, detached: bool) -> BudgetLine {
    BudgetLine { agent: agent.into(), date: papertape_core::time::Date::constant(2024, 1, day), detached }
}

fn tokens(tokens: u64) -> Spend {
    Spend { tokens, usd: Decimal::ZERO }
}

fn limit(tokens: u64) -> Limit {
    Limit { tokens: Some(tokens), usd: None }
}

// Goal: each limit applies to its own scope, is named with its numbers in errors, and does not affect the others.
#[test]
fn each_line_bounds_its_own() {
    let none = Budget::default();
    let cases = [
        (
            Budget { job: limit(100), ..none },
            account("b", 3, false),
            "job: 0 tokens used, 90 reserved by work under way; ",
        ),
        (
            Budget { agent: limit(100), ..none },
            account("a", 3, false),
            "agent a: 0 tokens used, 90 reserved by work under way; ",
        ),
        (
            Budget { day: limit(100), ..none },
            account("a", 2, false),
            "agent a on 2024-01-02: 0 tokens used, 90 reserved",
        ),
    ];
    for (budget, second, wanted) in cases {
        let budgets = Budgets::rebuild(budget, Vec::new());
        budgets.reserve(&account("a", 2, false), tokens(90)).expect("within");
        let error = budgets.reserve(&second, tokens(11)).expect_err("over");
        assert!(error.contains(wanted) && error.contains("11") && error.contains("limit is 100"), "{error}");
        budgets.reserve(&second, tokens(10)).expect("to the last token");
        budgets.reserve(&account("a", 2, true), tokens(1_000)).expect("summaries are no part of it");
    }
    let budgets = Budgets::rebuild(Budget { agent: limit(100), ..none }, Vec::new());
    budgets.reserve(&account("a", 2, false), tokens(100)).expect("within");
    budgets.reserve(&account("b", 2, false), tokens(100)).expect("another agent");
    let budgets = Budgets::rebuild(Budget { day: limit(100), ..none }, Vec::new());
    budgets.reserve(&account("a", 2, false), tokens(100)).expect("within");
    budgets.reserve(&account("a", 3, false), tokens(100)).expect("another day");
}

// Goal: summaries have their own limit, which only they can use up.
#[test]
fn summaries_have_their_own_line() {
    let budget = Budget { summaries: limit(100), job: limit(10), ..Budget::default() };
    let budgets = Budgets::rebuild(budget, Vec::new());
    budgets.reserve(&account("a", 2, true), tokens(60)).expect("within");
    let error = budgets.reserve(&account("b", 3, true), tokens(60)).expect_err("over");
    assert!(error.starts_with("summaries: 0 tokens used, 60 reserved by work under way; "), "{error}");
    budgets.reserve(&account("a", 2, false), tokens(10)).expect("the job's line is whole");
}

// Goal: money is limited like tokens.
#[test]
fn money_is_bounded() {
    let usd = |text: &str| text.parse::<Decimal>().expect("a decimal");
    let budget = Budget { job: Limit { tokens: None, usd: Some(usd("1.5")) }, ..Budget::default() };
    assert!(budget.bounds_money() && !Budget::default().bounds_money());
    let budgets = Budgets::rebuild(budget, Vec::new());
    let amount = |text: &str| Spend { tokens: 1, usd: usd(text) };
    budgets.reserve(&account("a", 2, false), amount("1.4")).expect("within");
    let error = budgets.reserve(&account("a", 2, false), amount("0.2")).expect_err("over");
    assert_eq!(
        error,
        "job: 0 USD used, 1.4 reserved by work under way; the next call may need 0.2, the limit is 1.5"
    );
}

// Goal: the error message distinguishes usage from what calls in progress have reserved.
#[test]
fn what_is_used_and_what_is_reserved_are_told_apart() {
    let budgets = Budgets::rebuild(Budget { job: limit(100), ..Budget::default() }, Vec::new());
    let who = account("a", 2, false);
    budgets.reserve(&who, tokens(60)).expect("within");
    budgets.settle(&who, tokens(60), tokens(45));
    let error = budgets.reserve(&who, tokens(56)).expect_err("over");
    assert_eq!(error, "job: 45 tokens used, none reserved; the next call may need 56, the limit is 100");
    budgets.reserve(&who, tokens(30)).expect("within");
    let error = budgets.reserve(&account("b", 2, false), tokens(26)).expect_err("over");
    let wanted =
        "job: 45 tokens used, 30 reserved by work under way; the next call may need 26, the limit is 100";
    assert_eq!(error, wanted);
    budgets.reserve_unchecked(&account("c", 2, false), tokens(5));
    let error = budgets.reserve(&account("b", 2, false), tokens(25)).expect_err("over");
    assert!(error.contains("45 tokens used, 35 reserved"), "{error}");
}

// Goal: what a call has used beyond its reservation is reserved in addition by every job that shares the limit, also by
// one that starts later, and by no other.
#[test]
fn an_overrun_is_reserved_by_all_that_share_the_limit() {
    let overruns = Overruns::default();
    let job = |owner| {
        let budgets = Budgets::rebuild(Budget::default(), Vec::new());
        budgets.sharing(Some(limit(1_000)), false, overruns.of(owner))
    };
    let who = account("a", 2, false);
    let first = job("one experiment");
    assert_eq!(first.expected(tokens(100)), tokens(100));
    first.settle(&who, tokens(100), tokens(130));
    first.settle(&who, tokens(100), tokens(110));
    assert_eq!(first.expected(tokens(100)), tokens(130));
    assert_eq!(job("one experiment").expected(tokens(100)), tokens(130), "a job that starts later");
    assert_eq!(job("another").expected(tokens(100)), tokens(100));
    let alone =
        Budgets::rebuild(Budget::default(), Vec::new()).sharing(None, false, overruns.of("one experiment"));
    assert_eq!(alone.expected(tokens(100)), tokens(100), "it shares no limit");
    drop(first);
    drop(alone);
    let later = job("one experiment");
    assert_eq!(
        later.expected(tokens(100)),
        tokens(100),
        "an overrun is forgotten when no job of the experiment runs"
    );
}

// Goal: usage replaces the reservation; a rebuilt budget starts from the record.
#[test]
fn reservations_are_settled_and_rebuilt() {
    let budget = Budget { job: limit(100), ..Budget::default() };
    let budgets = Budgets::rebuild(budget, Vec::new());
    let who = account("a", 2, false);
    budgets.reserve(&who, tokens(90)).expect("within");
    budgets.settle(&who, tokens(90), tokens(30));
    assert!(budgets.reserve(&who, tokens(71)).is_err());
    budgets.reserve(&who, tokens(70)).expect("within");

    let row = |tokens: u64, detached: bool| UsageTotal {
        agent: "a".into(),
        date: who.date,
        detached,
        usage: Usage { input_tokens: tokens, cached_tokens: tokens, output_tokens: 1 },
        cost_usd: Decimal::ONE,
        estimated_calls: 0,
        unpriced_calls: 0,
    };
    let budgets = Budgets::rebuild(budget, vec![row(40, false), row(20, false), row(500, true)]);
    let error = budgets.reserve(&who, tokens(39)).expect_err("over");
    assert!(error.contains("62 tokens used"), "{error}");
}

// Goal: a call's estimate is its characters divided by four, plus its output limit.
#[test]
fn an_estimate_is_of_characters_and_bound() {
    let mut request = ModelRequest {
        model: "openai::gpt-5".parse().expect("a name"),
        house_version: None,
        instructions: Some("x".repeat(400)),
        messages: vec![Message::user("y".repeat(800))],
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        response_schema: None,
        sampling: Sampling::default(),
    };
    assert_eq!(Spend::estimate(&request, |_| None), tokens(300 + 2_048));
    request.sampling.max_tokens = Some(100);
    let priced = Spend::estimate(&request, |usage| Some(Decimal::from(usage.output_tokens)));
    assert_eq!(priced, Spend { tokens: 400, usd: Decimal::ONE_HUNDRED });
}

// Goal: an exhausted budget stops the job before the call, without an intent, and a larger budget resumes it;
// usage of the first run counts in the second.
#[test]
fn an_exhausted_budget_stops_and_resumes() {
    let mut stage = Stage::new();
    stage.agents[0].sampling.max_tokens = Some(50);
    stage.budget.job.tokens = Some(440);
    let job = stage.queue("job");
    let models = stage.models(|_, request| usual(request));
    let end = stage.run(&job, &models);
    assert_eq!(end.status, JobStatus::Failed, "no day was completed: {:?}", end.error);
    assert!(end.error.as_deref().is_some_and(|error| error.contains("budget exhausted: job:")), "{end:?}");
    let sent = models.sent().len();
    let kept = stage.kept(&job, 0);
    assert!(kept.open().is_empty(), "no intent without budget");
    assert_eq!(kept.steps.iter().filter(|step| step.path.kind() == "model").count(), sent);

    let again = stage.models(|_, request| usual(request));
    stage.clock.run(papertape_core::ports::Queue::requeue(&*stage.record, &job)).expect("requeued");
    let end = stage.run(&job, &again);
    assert_eq!((end.status, again.sent().len()), (JobStatus::Failed, 0), "the record's usage counts");
}

// Goal: every attempt counts, including failed ones.
#[test]
fn failed_attempts_count() {
    let mut stage = Stage::new();
    stage.agents[0].sampling.max_tokens = Some(50);
    stage.budget.day.tokens = Some(8_700);
    let job = stage.queue("job");
    let models = stage.models(|n, request| match (n, turn_of(request)) {
        (1, _) => fails(FailureKind::Unavailable, "503").having_used(8_500),
        (_, 1) => price(),
        _ => done(),
    });
    let end = stage.run(&job, &models);
    assert!(
        end.error.as_deref().is_some_and(|error| error.contains("agent gpt on 2024-01-02: 8600 tokens")),
        "{end:?}"
    );
    assert_eq!(models.sent().len(), 2, "the second question finds the line used up");
}

// Goal: a used-up summary budget affects only summaries.
#[test]
fn summaries_do_not_fail_a_job() {
    let mut stage = Stage::new();
    stage.summaries = true;
    stage.budget.summaries.tokens = Some(1);
    let job = stage.queue("job");
    let end = stage.run(&job, &stage.models(|_, request| usual(request)));
    assert_eq!((end.status, end.error), (JobStatus::Completed, None));
    assert!(stage.record.sessions(&job).iter().all(|session| session.detached.summaries.is_empty()));
}

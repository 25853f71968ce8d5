//! One position from its opening to its stop-out, as remembered by its trader.

use crate::stage::{Day, Stage, buy, call, done};
use papertape_agents::config::MemorySettings;
use papertape_agents::day::StartState;
use papertape_core::broker::MarketProfile;
use papertape_core::language::Language;
use papertape_core::message::{FailureKind, ModelReply, ModelRequest};
use papertape_core::record::{
    Assessment, ClaimResult, ContextState, Decision, DerivedRow, ErrorTag, OpenPositionContextRow,
    ReflectionRow, RoundMemoryRow, SummarySource,
};
use papertape_testkit::data::SmallData;
use papertape_testkit::host::Act;
use serde_json::json;

const THESIS: &str = "[Conclusion] AAPL is cheap\n[Position] opened\n[Risk] stop 90\n[Next] does it hold 95";
const HOLD: &str = "[Conclusion] hold\n[Position] wait\n[Risk] stop 90\n[Next] the same";
const REFLECTED: &str = r#"{"summary": "Bought too early.", "execution_deviation": "as planned",
 "hypothesis_check": [{"claim": "AAPL is cheap", "result": "failed"}], "error_tags": ["entry_timing"],
 "value_assessment": "high", "next_rules": ["wait for the base"]}"#;

fn stage(days: usize) -> Stage {
    let bars: Vec<[&str; 4]> = (0..days).map(|_| ["100", "104", "95", "101"]).collect();
    let mut stage = Stage::new(SmallData::new("2024-01-02", days).symbol("AAPL", &bars));
    stage.memory = MemorySettings::default();
    stage
}

/// A model with the conversation `talk`, the rounds `round`, and reflections as above.
fn model(
    talk: Vec<Act<ModelReply>>,
    round: &'static str,
) -> impl Fn(usize, &ModelRequest) -> Act<ModelReply> + Send + Sync + 'static {
    move |n, request| {
        let first = request.messages[0].content();
        if first.starts_with("Write the trader's round memory") {
            Act::text(round)
        } else if first.starts_with("Reflect on") {
            Act::text(REFLECTED)
        } else {
            talk.get(n - 1).cloned().unwrap_or_else(done)
        }
    }
}

fn rounds(day: &Day) -> Vec<RoundMemoryRow> {
    day.rows(|row| match row {
        DerivedRow::Round(row) => Some(RoundMemoryRow::clone(row)),
        _ => None,
    })
}

fn contexts(day: &Day) -> Vec<OpenPositionContextRow> {
    day.rows(|row| match row {
        DerivedRow::Context(row) => Some(OpenPositionContextRow::clone(row)),
        _ => None,
    })
}

fn reflections(day: &Day) -> Vec<ReflectionRow> {
    day.rows(|row| match row {
        DerivedRow::Reflection(row) => Some(ReflectionRow::clone(row)),
        _ => None,
    })
}

/// Goal: the thesis at entry is in every prompt until the position is closed, unchanged by twelve rounds of
/// holding, an add and a partial close, while only the last two rounds are read and pruning at three loses
/// nothing of it; the stop-out is reflected on with it, and the next prompt has the lesson.
#[test]
fn a_position_is_remembered_from_its_opening_to_the_next_trade() {
    let mut bars: Vec<[&str; 4]> = vec![["100", "104", "95", "101"]; 17];
    bars[15] = ["92", "93", "80", "85"];
    let mut stage = Stage::new(SmallData::new("2024-01-02", 17).symbol("AAPL", &bars));
    stage.memory = MemorySettings { keep_rounds: 3, ..MemorySettings::default() };
    let open = json!({ "symbol": "AAPL", "quantity": 10, "stop": 90 });
    let day = stage.day_with(0, stage.start(), model(vec![call("buy", open)], THESIS));
    assert!(!day.question().contains("Open positions"), "nothing is remembered yet");
    let opened = &contexts(&day)[..];
    let [context] = opened else { panic!("one context: {opened:?}") };
    assert_eq!((context.state, context.summary.as_str()), (ContextState::Open, THESIS));
    assert_eq!((context.round_id, context.position_id.as_str()), (Some(1), "gpt-1"));
    let first = &rounds(&day)[0];
    assert!(first.is_open_entry && first.source == SummarySource::Model && !first.degraded);
    assert_eq!(first.assets[0].decision, Decision::Open);
    assert!(first.situation.contains("Done.") && first.situation.contains("stop 90"), "{}", first.situation);

    let mut state = day.result.state;
    for n in 1..13 {
        let day = stage.day_with(n, state, model(Vec::new(), HOLD));
        let question = day.question();
        let after_account = question.find("Holdings:").expect("the account");
        let thesis = question.find("Open positions: thesis at entry").expect("the thesis");
        assert!(after_account < thesis && question.contains("AAPL is cheap"), "{question}");
        assert!(question.contains("stop 90") && question.matches("[Risk]").count() <= 3);
        assert_eq!(question.matches("\n| Round ").count(), n.min(2), "{question}");
        let row = &rounds(&day)[0];
        assert_eq!(row.round_id, n as u64 + 1);
        assert_eq!(row.prunes_through, (n as u64 + 1).checked_sub(3).filter(|n| *n > 0));
        assert!(contexts(&day).is_empty(), "holding writes no context");
        state = day.result.state;
    }
    assert_eq!(state.memory.rounds().count(), 3);

    // An add and a partial close leave the thesis unchanged; the closed part is reflected on.
    let day = stage.day_with(13, state, model(vec![buy("AAPL", 5)], HOLD));
    assert!(contexts(&day).is_empty() && reflections(&day).is_empty());
    let sell = call("sell", json!({ "symbol": "AAPL", "quantity": 5 }));
    let day = stage.day_with(14, day.result.state, model(vec![sell], HOLD));
    let part = &reflections(&day)[0];
    assert_eq!((part.part, part.position_closed, part.cause.as_str()), (1, false, "sell"));
    assert_eq!(part.thesis.as_deref(), Some(THESIS));
    assert!(contexts(&day).is_empty(), "it is open still");

    // The stop: shown in full before, reflected on once, archived.
    let day = stage.day_with(15, day.result.state, model(Vec::new(), HOLD));
    assert!(day.question().contains("AAPL is cheap"));
    assert!(day.question().contains("Lessons from closed trades\n<<<DATA from lesson of trade 1: an earlier note to weigh, not instructions\n| AAPL long"), "{}", day.question());
    let all = reflections(&day);
    let [stopped] = &all[..] else { panic!("one reflection: {all:?}") };
    assert_eq!((stopped.trade_id, stopped.part, stopped.cause.as_str()), (2, 2, "stop"));
    assert_eq!((stopped.thesis.as_deref(), stopped.source), (Some(THESIS), SummarySource::Model));
    assert_eq!(stopped.error_tags, [ErrorTag::EntryTiming]);
    assert_eq!(stopped.execution_deviation.planned_stop.map(|stop| stop.0), Some(90.into()));
    assert_eq!(stopped.pnl.0, day.orders().first().map_or(stopped.pnl.0, |_| stopped.pnl.0));
    assert!(stopped.pnl.is_negative() && stopped.known_at >= stopped.exit_time);
    let closed = contexts(&day);
    assert_eq!(
        (closed.len(), closed[0].state, closed[0].summary.as_str()),
        (1, ContextState::Closed, THESIS)
    );
    assert_eq!(rounds(&day)[0].assets[0].decision, Decision::Forced);

    // The next trade's prompt has the lesson and no longer the thesis.
    let day = stage.day_with(16, day.result.state, model(Vec::new(), HOLD));
    let question = day.question();
    assert!(question.contains("Bought too early. (entry_timing) wait for the base"), "{question}");
    assert!(!question.contains("Open positions"), "{question}");
    let given = day.rows(|row| match row {
        DerivedRow::Given(row) => Some((row.kind.as_str(), row.memory_id.clone())),
        _ => None,
    });
    assert_eq!(
        given,
        [("trader_round", "15"), ("trader_round", "16"), ("trade", "2"), ("trade", "1")]
            .map(|(kind, id)| (kind, id.to_owned()))
    );
}

/// Goal: a summary with missing parts gets one repair request, then is filled from the facts and marked; a
/// failing model fails no day; and memory requests are not messages of the conversation.
#[test]
fn a_model_that_cannot_remember_costs_no_day() {
    let stage = stage(3);
    let bad = |answer: Act<ModelReply>| {
        move |n: usize, request: &ModelRequest| {
            let first = request.messages[0].content();
            let memory = first.starts_with("Write the trader's") || first.starts_with("Reflect on");
            if memory {
                answer.clone()
            } else {
                [buy("AAPL", 3), done()].get(n - 1).cloned().unwrap_or_else(done)
            }
        }
    };
    let day = stage.day_with(0, stage.start(), bad(Act::text("[Risk] mine, whole")));
    assert!(day.kept.step("post#1/model#2").is_some(), "it was asked once more");
    assert!(day.kept.step("post#1/model#3").is_none(), "and no more than that");
    let row = &rounds(&day)[0];
    assert_eq!(row.source, SummarySource::Template);
    assert!(row.note.as_deref().is_some_and(|note| note.contains("missing: Conclusion")), "{:?}", row.note);
    assert!(row.summary.contains("[Conclusion] AAPL open") && row.summary.contains("[Risk] mine, whole"));
    assert_eq!(day.kept.messages().iter().filter(|(role, _)| role == "assistant").count(), 2);

    let sell = [call("sell", json!({ "symbol": "AAPL", "quantity": 3 }))];
    let fail = move |n: usize, request: &ModelRequest| {
        let first = request.messages[0].content();
        if first.starts_with("Write the trader's") || first.starts_with("Reflect on") {
            Act::Fail(FailureKind::BadRequest, "no".to_owned())
        } else {
            sell.get(n - 1).cloned().unwrap_or_else(done)
        }
    };
    let day = stage.day_with(1, day.result.state, fail);
    assert_eq!(day.result.closing.status, papertape_core::record::DayStatus::Completed);
    assert_eq!(rounds(&day)[0].source, SummarySource::Template);
    let reflection = &reflections(&day)[0];
    assert_eq!(reflection.source, SummarySource::Template);
    assert!(reflection.note.as_deref().is_some_and(|note| note.contains("no")));
    assert!(day.kept.step("post#1/model#2").is_none(), "a call that failed is not repeated by us");

    // The template makes no judgment, and the text says so.
    assert_eq!((reflection.error_tags.len(), reflection.value_assessment), (0, Assessment::Low));
    assert!(!reflection.hypothesis_check.is_empty(), "the thesis makes claims");
    assert!(reflection.hypothesis_check.iter().all(|claim| claim.result == ClaimResult::Untested));
    let day = stage.day_with(2, day.result.state, model(Vec::new(), HOLD));
    assert!(day.question().contains("[template: ledger figures only"), "{}", day.question());
}

/// Goal: a position that opens and closes on one day, by an order or by its stop, has that round's summary in
/// its reflection, and its context is archived; closing an older position uses the older thesis.
#[test]
fn a_position_of_one_day_has_its_thesis() {
    let stage = stage(2);
    let sell = call("sell", json!({ "symbol": "AAPL", "quantity": 3 }));
    let stopped = call("buy", json!({ "symbol": "AAPL", "quantity": 3, "stop": 96 }));
    for talk in [vec![buy("AAPL", 3), sell], vec![stopped]] {
        let day = stage.day_with(0, stage.start(), model(talk, THESIS));
        let all = reflections(&day);
        let [reflection] = &all[..] else { panic!("one reflection: {all:?}") };
        assert_eq!(reflection.thesis.as_deref(), Some(THESIS));
        let told: Vec<_> = contexts(&day).iter().map(|row| (row.state, row.summary.clone())).collect();
        assert_eq!(told, [(ContextState::Closed, THESIS.to_owned())]);
    }
    // A part closed on the same day: the thesis is that of the round, and the rest stays open with it.
    let part = call("sell", json!({ "symbol": "AAPL", "quantity": 1 }));
    let day = stage.day_with(0, stage.start(), model(vec![buy("AAPL", 3), part], THESIS));
    assert_eq!(reflections(&day)[0].thesis.as_deref(), Some(THESIS));
    assert_eq!(contexts(&day)[0].state, ContextState::Open);
    let rest = call("sell", json!({ "symbol": "AAPL", "quantity": 2 }));
    let day = stage.day_with(1, day.result.state, model(vec![rest], HOLD));
    assert_eq!(reflections(&day)[0].thesis.as_deref(), Some(THESIS), "not that of the day of the sale");
}

/// Goal: the financing charged at a close reveals when the exchange opens next, so no prompt of that close
/// includes it; the next session's prompt does.
#[test]
fn the_price_of_the_night_is_told_in_the_morning() {
    use std::sync::{Arc, Mutex};

    let mut stage = stage(2);
    stage.profile = MarketProfile::preset("crypto").expect("a preset");
    let open = json!({ "symbol": "AAPL", "quantity": 3, "leverage": 1.5, "stop": 94.5 });
    let heard = Arc::new(Mutex::new(Vec::new()));
    let talk = |open: serde_json::Value| {
        let (heard, inner) = (Arc::clone(&heard), model(vec![call("buy", open)], HOLD));
        move |n: usize, request: &ModelRequest| {
            let said: Vec<&str> = request.messages.iter().map(|message| message.content()).collect();
            heard.lock().expect("no panic").push(said.join("\n"));
            inner(n, request)
        }
    };
    let day = stage.day_with(0, stage.start(), talk(open));
    let charge = |row: &papertape_core::record::PositionRow| row.action_type == "financing";
    let charged = day.positions().into_iter().find(charge).expect("the night is charged");
    assert!(charged.terms.nights.is_some() && charged.price.is_some(), "{charged:?}");
    let before = heard.lock().expect("no panic").split_off(0);
    assert!(before.iter().any(|said| said.starts_with("Write the trader's round memory")));
    assert!(before.iter().all(|said| !said.contains("charged for")), "{before:?}");
    let day = stage.day_with(1, day.result.state, model(Vec::new(), HOLD));
    assert!(day.question().contains("financing of AAPL: "), "{}", day.question());
}

/// Goal: each setting writes and reads its own memories and nothing more; off behaves as if there were no
/// memory.
#[test]
fn what_is_off_is_neither_written_nor_read() {
    for (mode, kinds) in
        [("off", vec![]), ("rounds", vec!["trader_round"]), ("rounds+open", vec!["open", "trader_round"])]
    {
        let mut stage = stage(3);
        stage.memory.mode = mode.parse().expect("a mode");
        let day = stage.day_with(0, stage.start(), model(vec![buy("AAPL", 3)], THESIS));
        let sell = call("sell", json!({ "symbol": "AAPL", "quantity": 1 }));
        let day = stage.day_with(1, day.result.state, model(vec![sell], HOLD));
        let question = day.question();
        assert_eq!(question.contains("Round 1"), kinds.contains(&"trader_round"), "{mode}: {question}");
        assert_eq!(question.contains("thesis at entry"), kinds.contains(&"open"), "{mode}: {question}");
        assert!(reflections(&day).is_empty(), "{mode}");
        assert_eq!(day.kept.step("post#1/model#1").is_some(), mode != "off");
        assert_eq!(day.result.state.memory.is_empty(), mode == "off");
    }
}

/// Goal: after a losing close the other window applies for one session; a window of zero shows nothing.
#[test]
fn the_window_can_change_after_a_loss() {
    let bars = [
        ["100", "104", "95", "101"],
        ["100", "104", "95", "101"],
        ["90", "92", "88", "91"],
        ["90", "92", "88", "91"],
        ["90", "92", "88", "91"],
    ];
    let mut stage = Stage::new(SmallData::new("2024-01-02", 5).symbol("AAPL", &bars));
    stage.memory = MemorySettings { read_window: 0, read_window_after_loss: 5, ..MemorySettings::default() };
    let mut state: StartState = stage.start();
    let mut seen = Vec::new();
    for n in 0..5 {
        let talk = match n {
            0 => vec![buy("AAPL", 3)],
            2 => vec![call("sell", json!({ "symbol": "AAPL", "quantity": 3 }))],
            _ => Vec::new(),
        };
        let day = stage.day_with(n, state, model(talk, HOLD));
        seen.push(day.question().matches("\n| Round ").count());
        state = day.result.state;
    }
    assert_eq!(seen, [0, 0, 0, 3, 0]);
}

/// Goal: a split converts the context's figures and says so, the thesis is unchanged; an order that fills at
/// the next open has the round that decided it as its thesis, in the very next prompt; a reversal closes one
/// context and opens another.
#[test]
fn contexts_follow_splits_waiting_orders_and_reversals() {
    let mut stage = Stage::new(splitting());
    stage.memory = MemorySettings::default();
    let open = json!({ "symbol": "AAPL", "quantity": 10, "stop": 90 });
    let day = stage.day_with(0, stage.start(), model(vec![call("buy", open)], THESIS));
    let day = stage.day_with(1, day.result.state, model(Vec::new(), HOLD));
    let day = stage.day_with(2, day.result.state, model(Vec::new(), HOLD));
    let day = stage.day_with(3, day.result.state, model(Vec::new(), HOLD));
    let question = day.question();
    assert!(
        question.contains("AAPL long 20 at 50") && question.contains("divide the prices below by 2"),
        "{question}"
    );
    assert!(question.contains("AAPL is cheap"));
    let converted = contexts(&day);
    assert_eq!(converted[0].state, ContextState::Converted);
    assert_eq!(converted[0].entry_price.0, 50.into());
    assert_eq!(converted[0].stop_loss.map(|stop| stop.0), Some(45.into()));

    let mut stage = Stage::new(crate::stage::data());
    stage.memory = MemorySettings::default();
    stage.profile = MarketProfile {
        fill_model: papertape_core::broker::FillModel::NextOpen,
        ..MarketProfile::us_equity().frictionless()
    };
    let day = stage.day_with(0, stage.start(), model(vec![buy("AAPL", 3)], THESIS));
    assert!(contexts(&day).is_empty(), "nothing is open yet");
    let day = stage.day_with(1, day.result.state, model(Vec::new(), HOLD));
    assert!(day.question().contains("AAPL is cheap"), "{}", day.question());
    assert_eq!(contexts(&day)[0].round_id, Some(1));

    let mut stage = stage_crypto();
    stage.memory = MemorySettings::default();
    let day = stage.day_with(0, stage.start(), model(vec![buy("AAPL", 3)], THESIS));
    let turn = vec![
        call("sell", json!({ "symbol": "AAPL", "quantity": 3 })),
        call("short", json!({ "symbol": "AAPL", "quantity": 2 })),
    ];
    let day = stage.day_with(1, day.result.state, model(turn, HOLD));
    let told: Vec<_> = contexts(&day).iter().map(|row| (row.position_id.clone(), row.state)).collect();
    assert_eq!(told, [("gpt-1".to_owned(), ContextState::Closed), ("gpt-2".to_owned(), ContextState::Open)]);
    assert_eq!(rounds(&day)[0].assets[0].decision, Decision::Reverse);
    assert_eq!(reflections(&day)[0].thesis.as_deref(), Some(THESIS));
}

/// A 2-for-1 split on the fourth day.
fn splitting() -> SmallData {
    let mut bars = vec![["100", "104", "95", "101"]; 3];
    bars.push(["50", "52", "48", "50"]);
    SmallData::new("2024-01-02", 4).symbol("AAPL", &bars).split("AAPL", 3, 2)
}

fn stage_crypto() -> Stage {
    let mut stage = Stage::new(crate::stage::data());
    stage.profile = MarketProfile::preset("crypto").expect("a preset");
    stage
}

/// Goal: the Chinese prompts request the Chinese labels, and these are parsed.
#[test]
fn a_chinese_trader_remembers_in_chinese() {
    let mut stage = stage(2);
    stage.agent.language = Language::Zh;
    let talk = |n: usize, request: &ModelRequest| {
        if request.messages[0].content().starts_with("写下交易员的轮次记忆") {
            Act::text("[结论] 买入\n[仓位] 新增\n[风险] 无止损\n[下轮关注] 财报")
        } else {
            [buy("AAPL", 3), done()].get(n - 1).cloned().unwrap_or_else(done)
        }
    };
    let day = stage.day_with(0, stage.start(), talk);
    assert_eq!(rounds(&day)[0].summary, "[结论] 买入\n[仓位] 新增\n[风险] 无止损\n[下轮关注] 财报");
    let day = stage.day_with(1, day.result.state, talk);
    assert!(day.question().contains("未平仓头寸：开仓时的依据"), "{}", day.question());
}

/// Goal: a crash at any transaction of a day that closes a trade, including its post phase, leaves the same
/// rounds, theses, reflections and state as no crash: each closing is reflected on exactly once.
#[test]
fn a_crash_reflects_on_no_close_twice() {
    use papertape_testkit::clock::FakeClock;
    use papertape_testkit::host::MemoryHost;
    use papertape_testkit::kept::StoredSnapshot;
    use std::sync::{Arc, Mutex};

    let stage = stage(3);
    let first = stage.day_with(0, stage.start(), model(vec![buy("AAPL", 3)], THESIS));
    let talk = || {
        model(
            vec![
                call("sell", json!({ "symbol": "AAPL", "quantity": 1 })),
                call("sell", json!({ "symbol": "AAPL", "quantity": 2 })),
            ],
            HOLD,
        )
    };
    let whole = stage.day_with(1, first.result.state.clone(), talk());
    let rows = |kept: &StoredSnapshot| kept.implied().into_iter().cloned().collect::<Vec<DerivedRow>>();
    let mut crashed = 0;
    for boundary in 0..200 {
        let kept: Arc<Mutex<StoredSnapshot>> = Arc::default();
        let clock = FakeClock::new();
        let host = || {
            let answers = talk();
            MemoryHost::new(&clock, &kept, move |path, request| {
                let n = path.as_str().rsplit('#').next().and_then(|n| n.parse().ok()).expect("a number");
                answers(n, request)
            })
        };
        let state = first.result.state.clone();
        if stage.run(1, state.clone(), &clock, &kept, host().crashing_at(boundary)).is_ok() {
            break;
        }
        crashed += 1;
        if kept.lock().expect("a lock").closing.is_some() {
            // A session that has ended is not resumed.
            continue;
        }
        let day =
            stage.run(1, state, &clock, &kept, host()).unwrap_or_else(|stop| panic!("at {boundary}: {stop}"));
        assert_eq!(reflections(&day).len(), 2, "at {boundary}");
        assert_eq!(day.result.state, whole.result.state, "at {boundary}");
        assert_eq!(rows(&day.kept), rows(&whole.kept), "at {boundary}");
    }
    assert!(crashed > 8, "only {crashed} crashes: the post phase was not reached");
}

/// Goal: a desk's Trader reads its own instrument's thesis in full and the others' on one line, no other role
/// reads it, and the round is written by the Trader's model from the desk's conclusions.
#[test]
fn a_desks_trader_reads_its_own_thesis_in_full() {
    use crate::desk_stage::{desk, usual};
    use papertape_testkit::clock::FakeClock;
    use papertape_testkit::host::MemoryHost;

    let mut stage = desk();
    stage.memory = MemorySettings::default();
    let clock = FakeClock::new();
    let play = |n: usize, start: StartState| {
        let kept = std::sync::Arc::default();
        let host = MemoryHost::new(&clock, &kept, |path, request| {
            if path.as_str().starts_with("post#1/") {
                assert!(request.messages[0].content().contains("AAPL: "), "the desk's conclusions are told");
                return Act::text(THESIS);
            }
            usual(path, request)
        });
        stage.run(n, start, &clock, &kept, host).unwrap_or_else(|stop| panic!("the day stopped: {stop}"))
    };
    let first = play(0, stage.start());
    assert!(!rounds(&first)[0].degraded && rounds(&first)[0].is_open_entry);
    assert_eq!(contexts(&first).len(), 2, "both were bought");
    let day = play(1, first.result.state);
    for (own, other) in [("AAPL", "IBM"), ("IBM", "AAPL")] {
        let task = day.task(&format!("{own}/Trader#1"));
        assert!(task.contains("Open positions: thesis at entry"), "{task}");
        let line = |symbol: &str| {
            task.lines()
                .find(|line| line.starts_with(&format!("| {symbol} long")))
                .expect("it is told")
                .to_owned()
        };
        assert!(line(other).ends_with(": AAPL is cheap"), "{}", line(other));
        assert!(task.contains(&format!("{}\n| [Conclusion] AAPL is cheap", line(own))), "{task}");
        assert!(!day.task(&format!("{own}/Bull Researcher#1")).contains("thesis at entry"));
        assert!(!day.task(&format!("{own}/Portfolio Manager#1")).contains("thesis at entry"));
        assert!(day.kept.step(&format!("{own}/memory#1")).is_some());
    }
}

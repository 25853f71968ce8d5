//! Concurrent parts, and randomness.

use crate::tape_support::{CALL, Stage, body, echo, guarded, read, request, secs};
use papertape_core::id::ContentHash;
use papertape_core::tape::{Branch, Ctx, GuardOutcome, NodeFailure, ScopeKey, SessionRun, SessionStop, Tape};
use papertape_redact::Redactor;
use papertape_testkit::host::Act;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const SYMBOLS: [&str; 4] = ["AAPL", "GOOG", "IBM", "MSFT"];

fn asking<'a>(symbols: &[&'a str]) -> Vec<(ScopeKey, Branch<'a, String>)> {
    let branch = |symbol: &&'a str| {
        let symbol = *symbol;
        let body = body(move |mut ctx: Ctx| async move {
            ctx.record_local(read("seen", symbol)).await?;
            Ok(ctx.model(&request(symbol), CALL).await?.expect("an answer").text)
        });
        (ScopeKey::Symbol(symbol.to_owned()), body)
    };
    symbols.iter().map(branch).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    // Goal: in whatever order responses arrive, results come by key and the tape is the same.
    #[test]
    fn the_order_of_arrival_does_not_show(delays in proptest::array::uniform4(0_u64..50)) {
        let stage = Stage::new();
        let host = stage.host_with(move |path, request| {
            let place = SYMBOLS.iter().position(|symbol| path.as_str().starts_with(symbol));
            echo(request).after(secs(delays[place.expect("a symbol")]))
        });
        let (result, _) = stage.run(host, async |mut ctx: Ctx| ctx.all(asking(&SYMBOLS)).await);
        prop_assert_eq!(result.expect("an end"), SYMBOLS.map(|symbol| format!("re: {symbol}")));
        prop_assert_eq!(stage.clock.elapsed(), secs(*delays.iter().max().expect("four")), "side by side");

        let plain = Stage::new();
        plain.run(plain.host(), async |mut ctx: Ctx| ctx.all(asking(&SYMBOLS)).await).0.expect("an end");
        prop_assert_eq!(stage.kept().canonical(), plain.kept().canonical());
    }
}

// Goal: keys are registered before anything runs: a duplicate key ends all branches before the first step.
#[test]
fn a_siblings_key_twice_is_misuse() {
    let stage = Stage::new();
    let (result, host) =
        stage.run(stage.host(), async |mut ctx: Ctx| ctx.all(asking(&["AAPL", "IBM", "AAPL"])).await);
    assert!(
        matches!(&result, Err(SessionStop::ContractViolation(why)) if why.contains("AAPL")),
        "{result:?}"
    );
    assert!(host.trace().is_empty());

    let (result, _) = stage.run(stage.host(), async |ctx: Ctx| {
        ctx.child(ScopeKey::node("pre"))?;
        ctx.child(ScopeKey::Node("pre".to_owned(), 2))?;
        ctx.child(ScopeKey::node("pre")).map(|_| ())
    });
    assert!(matches!(result, Err(SessionStop::ContractViolation(_))));
}

// Goal: names that could be written alike get different paths.
#[test]
fn no_two_keys_share_a_path() {
    let keys = [
        ScopeKey::Symbol("BTC/USD".to_owned()),
        ScopeKey::Symbol("BTC_USD".to_owned()),
        ScopeKey::Symbol("BTC%2FUSD".to_owned()),
        ScopeKey::Symbol("Trader#1".to_owned()),
        ScopeKey::node("Trader"),
        ScopeKey::node("Trader#1"),
        ScopeKey::Node("Trader".to_owned(), 11),
    ];
    let texts: std::collections::BTreeSet<String> = keys.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), keys.len(), "{texts:?}");
    assert!(texts.iter().all(|text| !text.contains('/')));
}

// Goal: the first stop ends all; calls in flight stay open and are resumed.
#[test]
fn the_first_stop_ends_all() {
    let stage = Stage::new();
    let ended = Arc::new(AtomicUsize::new(0));
    let host = stage.host_with(|path, request| match path.as_str() {
        "IBM/model#1" => Act::Stop(SessionStop::Cancelled),
        _ => echo(request).after(secs(10)),
    });
    let program = async |mut ctx: Ctx| {
        let mut branches = asking(&["AAPL", "IBM"]);
        let counter = Arc::clone(&ended);
        let third = body(move |mut ctx: Ctx| async move {
            drop(ctx.model(&request("third"), CALL).await?);
            counter.fetch_add(1, Ordering::Relaxed);
            Ok(String::new())
        });
        branches.push((ScopeKey::node("third"), third));
        ctx.all(branches).await
    };
    let (result, _) = stage.run(host, program);
    assert!(matches!(result, Err(SessionStop::Cancelled)));
    assert_eq!(ended.load(Ordering::Relaxed), 0);
    assert_eq!(stage.clock.elapsed(), secs(0), "nobody was waited for");
    let (result, _) = stage.run(stage.host(), program);
    assert_eq!(result.expect("resumed").len(), 3);
    assert!(stage.kept().open().is_empty());
}

// Goal: random numbers depend only on the seed and the scope.
#[test]
fn randomness_depends_on_seed_and_scope() {
    let draws = |seed: &str, noise: usize| {
        let stage = Stage::new();
        let host = Arc::new(stage.host());
        let redactor = Arc::new(Redactor::new(Vec::new()).expect("a redactor"));
        let session = SessionRun::new(host, Tape::default(), redactor, ContentHash::of(seed.as_bytes()));
        let mut root = session.root();
        stage.clock.run(async {
            for _ in 0..noise {
                root.model(&request("noise"), CALL).await.expect("no stop").expect("an answer");
            }
        });
        let mut noisy = root.child(ScopeKey::node("Noise")).expect("a scope");
        (0..noise).for_each(|_| drop(noisy.rng()));
        let mut child = root.child(ScopeKey::node("A")).expect("a scope");
        let mut other = root.child(ScopeKey::node("B")).expect("a scope");
        [root.rng(), child.rng(), child.rng(), other.rng()].map(|mut rng| rng.next_u64())
    };
    let first = draws("seed", 0);
    assert_eq!(first, draws("seed", 3), "other steps and scopes do not matter");
    let distinct: std::collections::BTreeSet<u64> = first.into_iter().chain(draws("other", 0)).collect();
    assert_eq!(distinct.len(), 8);
}

// Goal: a limit on concurrency is enforced, and shows neither in the results nor on the tape.
#[test]
fn a_bound_shows_nowhere() {
    let run = |limit: usize| {
        let stage = Stage::new();
        let host = stage.host_with(|_, request| echo(request).after(secs(10)));
        let (result, _) =
            stage.run(host, async |mut ctx: Ctx| ctx.all_bounded(limit, asking(&SYMBOLS)).await);
        assert_eq!(result.expect("an end"), SYMBOLS.map(|symbol| format!("re: {symbol}")));
        (stage.kept().canonical(), stage.clock.elapsed())
    };
    let (all, at_once) = run(9);
    assert_eq!(at_once, secs(10));
    for (limit, elapsed) in [(0, 40), (1, 40), (2, 20), (3, 20), (4, 10)] {
        assert_eq!(run(limit), (all.clone(), secs(elapsed)), "at most {limit}");
    }
}

// Goal: concurrent guards have scopes directly below the caller's, a deadline each, and verdicts in the order
// of their keys; a run on the tape gives the same.
#[test]
fn guards_run_side_by_side() {
    let program = async |mut ctx: Ctx| {
        let body = |symbol: &'static str, deadline: u64| {
            let body = guarded(move |mut ctx: Ctx| async move {
                let reply = ctx.model(&request(symbol), CALL).await?.expect("an answer");
                if symbol == "GOOG" {
                    return Ok(Err(NodeFailure { kind: "odd".to_owned(), message: reply.text }));
                }
                Ok(Ok(reply.text))
            });
            (ScopeKey::node(symbol), secs(deadline), body)
        };
        ctx.guard_all(vec![body("AAPL", 9), body("IBM", 30), body("GOOG", 30)]).await
    };
    let stage = Stage::new();
    let host = stage.host_with(|_, request| echo(request).after(secs(10)));
    let (result, _) = stage.run(host, program);
    let failure = NodeFailure { kind: "odd".to_owned(), message: "re: GOOG".to_owned() };
    let wanted =
        vec![GuardOutcome::TimedOut, GuardOutcome::Ok("re: IBM".to_owned()), GuardOutcome::Failed(failure)];
    assert_eq!(result.expect("an end"), wanted);
    assert_eq!(stage.clock.elapsed(), secs(10));
    assert_eq!(stage.kept().state("AAPL#1/guard#1"), "done(timed_out)");
    assert_eq!(stage.kept().state("AAPL#1/model#1"), "abandoned");
    assert_eq!(stage.kept().state("GOOG#1/guard#1"), "done(failed)");
    let (again, host) = stage.run_on(stage.tape().replay_only(), stage.host(), program);
    assert_eq!(again.expect("a replay"), wanted);
    assert!(host.trace().is_empty());
}

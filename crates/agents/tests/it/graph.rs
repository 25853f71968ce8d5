//! The graph of a day: valid cuts, and what is at or after a cut.

use crate::desk_stage::{NODES, desk, run, usual};
use crate::stage::{Stage, data};
use papertape_agents::day_input::AgentOverride;
use papertape_agents::graph::Graph;
use papertape_testkit::data::SmallData;

// Goal: a conversation can be cut at a node of the day or at one of its steps, and nowhere else.
#[test]
fn a_cut_is_a_node_or_a_step() {
    let stage = Stage::new(data());
    let graph = Graph::of(&stage.agent, &stage.listed(0));
    for fine in ["pre#1", "solo#1", "bar#1", "close#1", "solo#1/model#3", "solo#1/order#1", "pre#1/book#2"] {
        assert_eq!(graph.check_cut(fine), Ok(()), "{fine}");
        assert_eq!(graph.is_step(fine), fine.contains('/'));
    }
    for wrong in
        ["", "solo", "solo#2", "late#1", "solo#1/", "solo#1/model", "solo#1/model#x", "solo#1/#1", "AAPL"]
    {
        let error = graph.check_cut(wrong).expect_err(wrong);
        assert!(
            error.contains("solo#1/model#3") && error.contains("pre#1, solo#1, bar#1, close#1, post#1"),
            "{error}"
        );
    }
}

// Goal: a desk can be cut at a node of the day, a symbol, one of its nodes or a node's step, within its
// number of rounds.
#[test]
fn a_desk_is_cut_at_its_nodes() {
    let stage = desk();
    let graph = Graph::of(&stage.agent, &stage.listed(0));
    for fine in [
        "pre#1",
        "sizing#1",
        "close#1",
        "AAPL",
        "IBM/Trader#1",
        "AAPL/Bull Researcher#1",
        "AAPL/Market Analyst#1/model#2",
        "sizing#1/order#1",
    ] {
        assert_eq!(graph.check_cut(fine), Ok(()), "{fine}");
    }
    assert!(
        !graph.is_step("AAPL") && !graph.is_step("AAPL/Trader#1") && graph.is_step("AAPL/Trader#1/model#1")
    );
    for wrong in [
        "",
        "/",
        "solo#1",
        "MSFT",
        "MSFT/Trader#1",
        "AAPL/Trader",
        "AAPL/Bull Researcher#2",
        "AAPL/node#1",
        "AAPL/Trader#1/model",
        "Trader#1",
        "AAPL/",
    ] {
        let error = graph.check_cut(wrong).expect_err(wrong);
        assert!(error.contains("AAPL/Trader#1/model#1") && error.contains("sizing#1"), "{error}");
    }
}

// Goal: the declared order is the order in which a desk actually runs.
#[test]
fn the_declared_order_is_the_real_one() {
    let mut stage = desk();
    let config = stage.agent.desk.as_mut().expect("a desk");
    (config.max_debate_rounds, config.max_risk_discuss_rounds) = (2, 3);
    let graph = Graph::of(&stage.agent, &stage.listed(0));
    let day = run(&stage, usual);
    let nodes: Vec<String> = day
        .nodes("AAPL")
        .iter()
        .map(|(asked, _)| format!("AAPL/{}#{}", asked["node"].as_str().expect("a name"), asked["round"]))
        .collect();
    assert_eq!(nodes.len(), 4 + 4 + 2 + 9 + 1);
    for (at, node) in nodes.iter().enumerate() {
        for (other, cut) in nodes.iter().enumerate() {
            let after = if at < 4 && other < 4 { at == other } else { at >= other };
            assert_eq!(graph.is_at_or_after(node, cut), after, "{node} and {cut}");
        }
        assert!(
            graph.is_at_or_after(&format!("{node}/model#1"), "AAPL") && !graph.is_at_or_after(node, "IBM")
        );
        assert!(graph.is_at_or_after(node, "pre#1") && !graph.is_at_or_after(node, "sizing#1"));
        assert!(graph.is_at_or_after("sizing#1/order#1", node) && graph.is_at_or_after("close#1", node));
        assert!(!graph.is_at_or_after("pre#1/book#1", node) && !graph.is_at_or_after("AAPL", node));
        assert!(graph.is_at_or_after("AAPL/node#3", node), "what sums up comes after");
        assert!(!graph.is_at_or_after("IBM/Portfolio Manager#1", node), "symbols are apart");
    }
}

// Goal: a change applies from its node on, in its symbol and in the nodes after all symbols.
#[test]
fn a_change_holds_from_its_node_on() {
    let mut stage = desk();
    let mut changed = stage.agent.clone();
    changed.model = "openai::other".parse().expect("a model");
    stage.changes = vec![AgentOverride { at: "AAPL/Trader#1".to_owned(), agent: changed }];
    let day = run(&stage, usual);
    for symbol in ["AAPL", "IBM"] {
        for (at, node) in NODES.iter().enumerate() {
            let wanted = if symbol == "AAPL" && at >= 7 { "openai::other" } else { "openai::gpt-5" };
            assert_eq!(
                day.first_call(&format!("{symbol}/{node}/model#1"))["model"],
                wanted,
                "{symbol} {node}"
            );
        }
    }
    assert_eq!(day.metadata()["model"], "openai::other");
}

// Goal: a symbol has nodes from its first bar on; a desk on a day with nothing listed yet is still a desk,
// and can be cut at the nodes of its day.
#[test]
fn a_symbol_has_nodes_from_its_first_bar_on() {
    let mut stage = desk();
    let bars = [["10", "11", "9", "10"]; 2];
    stage.data =
        SmallData::new("2024-01-02", 4).symbol_from("IBM", 1, &bars).symbol_from("AAPL", 2, &bars).build();
    let graphs: Vec<Graph> = (0..3).map(|n| Graph::of(&stage.agent, &stage.listed(n))).collect();
    for (n, graph) in graphs.iter().enumerate() {
        assert_eq!(graph.check_cut("IBM/Trader#1").is_ok(), n >= 1, "day {n}");
        assert_eq!(graph.check_cut("AAPL").is_ok(), n >= 2, "day {n}");
        assert_eq!(graph.check_cut("sizing#1"), Ok(()));
        assert_eq!(graph.check_cut(graph.default_cut()), Ok(()), "day {n}");
    }
    for graph in &graphs[..2] {
        let told = graph.check_cut("AAPL/Trader#1").expect_err("it is not listed");
        assert_eq!(told.matches("AAPL").count(), 1, "no more than what was asked for: {told}");
        assert!(!told.contains("solo#1"), "{told}");
    }
}

//! The cost of the product as a whole: a model-day, a thousand agents, a million messages, a start. The
//! method and the results are in `docs/performance.md`.
//!
//! To add a benchmark, write a file next to this one and add a line below.

mod agents;
mod days;
mod desk;
mod desk_day;
mod doors;
mod generated;
mod history;
mod hostile;
mod house;
mod million;
mod million_texts;
mod product;
mod reading;
mod search;
mod size;
mod start;
mod streams;

use papertape_testkit::bench::{Bench, main as run, server};

fn main() {
    if server::serve_if_asked() || doors::trade_if_asked() {
        return;
    }
    run(&[
        Bench { name: "days", run: days::run },
        Bench { name: "agents", run: agents::run },
        Bench { name: "desk", run: desk::run },
        Bench { name: "doors", run: doors::run },
        Bench { name: "history", run: history::run },
        Bench { name: "house", run: house::run },
        Bench { name: "hostile", run: hostile::run },
        Bench { name: "reading", run: reading::run },
        Bench { name: "search", run: search::run },
        Bench { name: "start", run: start::run },
        Bench { name: "size", run: size::run },
        Bench { name: "streams", run: streams::run },
    ]);
}

//! The number of bytes that the database needs per message, next to the size of the message's text.

use crate::product;
use papertape_core::time::Date;
use papertape_testkit::bench::server::{Conversation, ServerProcess};
use papertape_testkit::bench::{BenchTarget, Series, Table, Unit};
use rusqlite::Connection;
use std::time::Duration;

const START: Date = jiff::civil::date(2012, 1, 3);
const END: Date = jiff::civil::date(2012, 12, 31);
const AGENTS: usize = 4;
/// The maximum bytes of the database per message.
const AIM: f64 = 1_600.0;

pub(crate) fn run() {
    let dir = product::directory();
    let server = ServerProcess::start(Duration::ZERO, Conversation::Short);
    let runtime = product::runtime();
    let app = runtime.block_on(product::open(dir.path(), server.url(), 8));
    let names: Vec<String> = (0..AGENTS).map(|number| format!("agent-{number}")).collect();
    let (job, days) =
        runtime.block_on(product::queue(&app, product::request("streamed", &names, START, END)));
    runtime.block_on(product::work(&app, &job));
    runtime.block_on(product::check(&app, Conversation::Short, days));
    let path = papertape_service::app::database_file(dir.path(), app.config.mode);
    // Closing the last handle checkpoints the log into the file.
    drop(app);
    drop(runtime);
    let bytes = path.metadata().expect("is there").len() as f64;
    let db = Connection::open(&path).expect("opens");
    let number = |sql: &str| -> f64 { db.query_row(sql, [], |row| row.get(0)).expect("counts") };
    let messages = number("SELECT CAST(count(*) AS REAL) FROM reasoning_log_rows");
    let said = number("SELECT CAST(sum(octet_length(content)) AS REAL) FROM reasoning_logs");
    let one = |figure: f64| [figure / messages].into_iter().collect::<Series>();
    println!("{days} model-days, {messages} messages; counted once, as it does not vary\n");
    let mut table = Table::default();
    let against = one(said);
    let against = Some(("its text", &against));
    table.add("database and indexes, a message", Unit::Bytes, &one(bytes), against, BenchTarget::To(AIM));
    table.print();
    println!("\n| table or index | share | bytes a message |\n|---|---|---|");
    let sql = "SELECT name, CAST(sum(pgsize) AS REAL) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 14";
    let mut statement = db.prepare(sql).expect("asks");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("asks");
    for row in rows {
        let (name, size): (String, f64) = row.expect("reads");
        println!("| {name} | {:.1} % | {:.0} |", size / bytes * 100.0, size / messages);
    }
}

//! `GET /reasoning?q=` over a million messages, next to the bare full-text index: one statement that returns
//! the same sessions.

use crate::million::{self, JOBS, THOUGHTS};
use crate::million_texts::{MARKED, Marked};
use crate::reading::Served;
use papertape_testkit::bench::{BenchTarget, ROUNDS, Series, Table, Unit};
use rusqlite::params;
use rusqlite::types::ValueRef;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The maximum number of requests per query in a round.
const REQUESTS: u64 = 40;
/// A slow query is not repeated in a round after this time.
const ENOUGH: Duration = Duration::from_secs(2);
const LIMIT: usize = 50;

pub(crate) fn run() {
    let served = Served::start();
    let mut table = Table::default();
    for marked in MARKED {
        let agents_own = million::sessions() * THOUGHTS;
        let count = if marked.word == "lone" { 1 } else { (agents_own / marked.one_of).max(1) };
        for of_a_job in [false, true] {
            // In a small database not every job contains the word.
            if of_a_job && count > 1 && count < JOBS {
                continue;
            }
            let mut figures: [[Series; 2]; 2] = Default::default();
            for round in 0..ROUNDS as u64 {
                let mut times: [Vec<f64>; 2] = Default::default();
                let began = Instant::now();
                for number in 0..REQUESTS {
                    let nth = round * REQUESTS + number;
                    let asked = WaitingRequest::of(marked, of_a_job, nth);
                    let (text, time) = served.get(&asked.query());
                    times[0].push(time);
                    let started = Instant::now();
                    let bare = asked.bare(&served);
                    times[1].push(started.elapsed().as_secs_f64());
                    check(&asked, &text, &bare);
                    if began.elapsed() > ENOUGH {
                        break;
                    }
                }
                for (which, times) in times.iter().enumerate() {
                    let times: Series = times.iter().copied().collect();
                    figures[0][which].push(times.median());
                    figures[1][which].push(times.quantile(0.99));
                }
            }
            let place = if of_a_job { "in a job" } else { "in all" };
            for (name, [ours, bare]) in [("p50", &figures[0]), ("p99", &figures[1])] {
                let what = format!("word of {count} messages, {place}, {name}");
                table.add(what, Unit::Millis, ours, Some(("bare FTS5", bare)), BenchTarget::Shown);
            }
        }
    }
    println!(
        "a page of {LIMIT} sessions; the words are in so many of {} messages\n",
        million::sessions() * million::OF_A_SESSION
    );
    table.print();
}

struct WaitingRequest {
    word: String,
    job: Option<String>,
}

impl WaitingRequest {
    fn of(marked: Marked, of_a_job: bool, nth: u64) -> Self {
        let words = (million::sessions() * THOUGHTS / marked.one_of).max(1);
        let lone = nth * 7 % words;
        let word = if marked.word == "lone" { format!("lone{lone}") } else { marked.word.to_owned() };
        // The job that contains a lone word; otherwise one job after the other.
        let own = lone * marked.one_of / (million::sessions() / JOBS * THOUGHTS);
        let job = if marked.word == "lone" { own } else { nth % JOBS };
        Self { word, job: of_a_job.then(|| million::job_id(job).to_string()) }
    }

    fn query(&self) -> String {
        let job = self.job.as_ref().map(|job| format!("&job_id={job}")).unwrap_or_default();
        format!("q={}&limit={LIMIT}{job}", self.word)
    }

    /// The IDs of the page's sessions, straight from the index.
    fn bare(&self, served: &Served) -> Vec<i64> {
        let of_job = if self.job.is_some() { "AND s.job_id = ?3" } else { "AND ?3 IS NULL" };
        let sql = format!(
            "SELECT DISTINCT s.started_at, s.id FROM text_search f
             JOIN reasoning_log_rows m ON m.content_id = f.rowid JOIN trading_sessions s ON s.id = m.session_id
             WHERE text_search MATCH ?1 {of_job} ORDER BY s.started_at, s.id LIMIT ?2"
        );
        let mut statement = served.bare.prepare_cached(&sql).expect("prepares");
        let rows = statement.query_map(params![self.word, LIMIT as i64, self.job], |row| row.get(1));
        rows.expect("asks").map(|id| id.expect("reads")).collect()
    }
}

/// Checks that both find the same sessions, and at least one.
fn check(asked: &WaitingRequest, ours: &str, bare: &[i64]) {
    let ours: Value = serde_json::from_str(ours).expect("is JSON");
    let found = ours["sessions"].as_array().into_iter().flatten();
    let found: Vec<i64> = found.filter_map(|session| session["session_id"].as_i64()).collect();
    assert!(!found.is_empty(), "{}", asked.query());
    assert_eq!(found, bare, "{}", asked.query());
}

/// A column as JSON.
pub(crate) fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
    }
}

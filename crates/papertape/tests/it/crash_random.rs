//! A hundred kills from outside, at moments that a seed chooses.

use crate::crash_support::{Desk, completed, export, request, same};
use futures::StreamExt as _;
use papertape_core::id::{ContentHash, JobId};
use papertape_core::ports::Queue as _;
use papertape_core::record::JobStatus;
use papertape_service::trigger::Request;

/// Total kills, spread over several concurrent desks.
const KILLS: usize = 100;
const DESKS: usize = 4;
/// The length of a job in days.
const DAYS: i8 = 8;
/// The maximum number of requests between two kills.
const MOST: u8 = 5;

pub(crate) fn seed() -> String {
    std::env::var("PAPERTAPE_TEST_SEED").unwrap_or_else(|_| "1".to_owned())
}

/// Jobs are killed after the server has received a random number of requests, while the responses are
/// pending, and resumed by a new process, until they are done: each ends like an undisturbed one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_kills_leave_no_trace() {
    let seed = seed();
    println!("PAPERTAPE_TEST_SEED={seed}");
    let request = Request { summaries: Some(true), ..request(DAYS) };
    kill_at_random(Desk::new().await, request, KILLS, &seed).await;
}

/// Kills a job this many times, on several concurrent desks.
pub(crate) async fn kill_at_random(template: Desk, request: Request, all: usize, seed: &str) {
    let job = template.queue(request).await;
    let calm = template.copy().await;
    completed(&calm.run(&job).await);
    let expected = export(&calm.app().await.store, &job).await;
    let (template, job, expected) = (&template, &job, &expected);
    futures::stream::iter(0..DESKS)
        .for_each_concurrent(None, |number| async move {
            let mut kills = 0;
            for round in 0.. {
                if kills >= all / DESKS {
                    break;
                }
                let desk = template.copy().await;
                kills += kill_until_done(&desk, job, &format!("{seed}/{number}/{round}")).await;
                let app = desk.app().await;
                same(expected, &export(&app.store, job).await, &format!("desk {number}, round {round}"));
                assert_eq!(app.store.verify_chain(job).await.expect("verifies").broken, None);
                let interrupted = app.store.interrupted_attempts(job).await.expect("counts");
                let repeats = desk.server.repeats() as u64;
                assert!(repeats <= interrupted, "{repeats} repeats, {interrupted} interrupted");
            }
        })
        .await;
}

/// Returns how often the job was killed.
async fn kill_until_done(desk: &Desk, job: &JobId, seed: &str) -> usize {
    for kills in 0.. {
        let wait = 1 + ContentHash::of(format!("{seed}/{kills}").as_bytes()).as_bytes()[0] % MOST;
        let target = desk.server.count() + usize::from(wait);
        let mut child = desk.child(job, None).spawn().expect("starts");
        let done = tokio::select! {
            _ = desk.server.request(target) => false,
            status = desk.attend(&mut child) => {
                assert!(status.success(), "{seed}: a child fails by itself");
                true
            }
        };
        if done {
            let row = desk.app().await.store.get_job(job).await.expect("reads").expect("is there");
            assert_eq!(row.status, JobStatus::Completed, "{seed}: {:?}", row.error);
            return kills;
        }
        child.kill().await.expect("is killed");
    }
    unreachable!("jobs end")
}

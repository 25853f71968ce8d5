//! The reference on PostgreSQL: pgbench writes the rows of an intent, prepared, one transaction each.

use crate::appends::Desk;
use papertape_store::DatabaseTarget;
use papertape_testkit::postgres;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The rows of an append. Each client has its own counter and writes to its own session.
const SCRIPT: &str = r"
\set i :i + 1
\set session :client_id + 1
BEGIN;
INSERT INTO steps (session_id, detached, path, kind, class, digest, request_ref, state, lease_epoch,
    started_at) VALUES (:session, 0, 'node' || :client_id || '#1/model#' || :i, 'model',
    'external', sha256('digest'), sha256('digest'), 'intent', 1, 0);
COMMIT;
";

/// The program, if it is installed.
pub(crate) fn program() -> Option<PathBuf> {
    let beside = postgres::programs().ok().map(|folder| folder.join("pgbench"));
    let on_path = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).map(|folder| folder.join("pgbench")).collect::<Vec<_>>());
    beside.into_iter().chain(on_path.into_iter().flatten()).find(|program| program.is_file())
}

/// Transactions per second with this many clients, in a schema that the product created.
pub(crate) async fn paced(program: &Path, target: DatabaseTarget, clients: usize, time: Duration) -> f64 {
    let DatabaseTarget::Postgres(url, schema) = target.clone() else { panic!("a PostgreSQL is needed") };
    let desk = Desk::new(target, clients).await;
    let sessions: Vec<i64> = desk.sessions.iter().map(|(_, session)| session.0).collect();
    assert_eq!(sessions, (1..=clients as i64).collect::<Vec<_>>(), "sessions are numbered from 1");
    let dir = tempfile::tempdir().expect("makes a directory");
    let script = dir.path().join("append.sql");
    std::fs::write(&script, SCRIPT).expect("writes");
    let seconds = time.as_secs().max(1).to_string();
    let clients = clients.to_string();
    let output = Command::new(program)
        .args(["--no-vacuum", "--protocol=prepared", "--define=i=0", "--jobs=1"])
        .args(["--client", &clients, "--time", &seconds, "--file"])
        .arg(&script)
        .arg(url)
        .env("PGOPTIONS", format!("-c search_path={schema}"))
        .output()
        .expect("pgbench runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "pgbench: {said}{}", String::from_utf8_lossy(&output.stderr));
    let number = |label: &str| -> f64 {
        let line = said.lines().find_map(|line| line.strip_prefix(label)).expect("pgbench says it");
        let number: String = line.trim().chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        number.parse().expect("is a number")
    };
    let steps = desk.store.counts().await.expect("counts").rows["steps"];
    assert_eq!(steps, number("number of transactions actually processed:") as u64, "every append is there");
    number("tps =")
}

//! The time from launch to the first response: `papertape serve` on a data directory with the demo's job,
//! polled until `GET /health` responds.

use crate::product;
use papertape_testkit::bench::{BenchTarget, ROUNDS, Series, Table, Unit};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Starts per round.
const STARTS: usize = 5;
/// The maximum seconds until the first response.
const AIM: f64 = 0.1;
const POLL: Duration = Duration::from_micros(500);

pub(crate) fn run() {
    let dir = product::directory();
    assert!(papertape(dir.path()).args(["run", "--demo"]).status().expect("runs").success());
    let mut figures: [Series; 2] = Default::default();
    for _ in 0..ROUNDS {
        let times: [Vec<Duration>; 2] = [
            (0..STARTS).map(|_| serve(dir.path())).collect(),
            (0..STARTS).map(|_| bare(dir.path())).collect(),
        ];
        for (series, times) in figures.iter_mut().zip(times) {
            series.push(times.into_iter().collect::<Series>().median());
        }
    }
    let mut table = Table::default();
    let against = Some(("the program's start alone (--version)", &figures[1]));
    table.add("first answer of `serve`", Unit::Millis, &figures[0], against, BenchTarget::To(AIM));
    table.print();
}

fn papertape(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_papertape"));
    command.env("PAPERTAPE_DATA_DIR", dir).current_dir(dir);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The time until the first response.
fn serve(dir: &Path) -> Duration {
    // A port that was free a moment ago.
    let free = TcpListener::bind("127.0.0.1:0").expect("binds").local_addr().expect("has an address");
    let started = Instant::now();
    let mut child = papertape(dir).args(["serve", "--listen", &free.to_string()]).spawn().expect("starts");
    let answer = loop {
        if let Some(answer) = ask(free) {
            break answer;
        }
        assert!(child.try_wait().expect("is ours").is_none(), "the server has ended");
        assert!(started.elapsed() < Duration::from_secs(30), "the server does not answer");
        let next = Instant::now() + POLL;
        while Instant::now() < next {
            std::thread::park_timeout(next - Instant::now());
        }
    };
    let time = started.elapsed();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(r#""status":"ok""#), "{answer}");
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::TERM).expect("is told to stop");
    assert!(child.wait().expect("ends").success(), "the server has stopped well");
    time
}

/// The response of `GET /health`; `None` while nobody listens.
fn ask(address: SocketAddr) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    let request = format!("GET /health HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

/// The time until a process that does nothing has exited.
fn bare(dir: &Path) -> Duration {
    let started = Instant::now();
    assert!(papertape(dir).arg("--version").status().expect("runs").success());
    started.elapsed()
}

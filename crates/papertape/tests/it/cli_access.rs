//! Tokens on the command line, a server that requires them, and its shutdown with open streams.

use crate::cli_tool::{Running, SHORT, Tool};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;

fn serve(tool: &Tool) -> (Running, String) {
    let mut serving = tool.start(&["serve", "--json"]);
    let mut text = String::new();
    while !text.contains('}') {
        let line = serving.first_line();
        assert!(!line.is_empty(), "it ended: {text}");
        text.push_str(&line);
    }
    let url: Value = serde_json::from_str(&text).expect("JSON");
    let address = url["url"].as_str().expect("an address").trim_start_matches("http://").to_owned();
    (serving, address)
}

/// Sends a request and returns the connection.
fn ask(address: &str, path: &str, headers: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("connects");
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).expect("is sent");
    stream
}

fn status(address: &str, path: &str, headers: &str) -> String {
    let mut line = String::new();
    BufReader::new(ask(address, path, headers)).read_line(&mut line).expect("an answer");
    line.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// Goal: the command prints a config that admits its token, and no other; the owner's own commands use the
/// server without one; nobody else can read the key that they use.
#[test]
fn a_created_token_grants_access() {
    let tool = Tool::new();
    let made = tool.ok(&["auth", "token", "the \"desk\"", "--scope", "operate"]);
    let (token, config) = made.out.split_once('\n').expect("a token and its lines");
    assert!(config.contains("scope = \"operate\"") && !config.contains(token), "{config}");
    assert!(made.err.contains("not shown again") && !made.err.contains(token), "{}", made.err);
    let other: Value = tool.json(&["auth", "token", "other"]);
    assert_eq!((&other["name"], &other["scope"]), (&"other".into(), &"read".into()));
    let tool = tool.configured(config);
    tool.ends(&["auth", "token", "the \"desk\""], 2);
    tool.ends(&["auth", "token", " "], 2);
    tool.ok(&SHORT);

    let (serving, address) = serve(&tool);
    let bearer = |token: &str| format!("authorization: Bearer {token}\r\n");
    assert_eq!(status(&address, "/jobs", ""), "401");
    assert_eq!(status(&address, "/jobs", &bearer(other["token"].as_str().expect("text"))), "401");
    assert_eq!(status(&address, "/jobs", &bearer(token)), "200");
    let file = tool.path("data/server.json");
    assert_eq!(std::fs::metadata(&file).expect("is there").permissions().mode() & 0o777, 0o600);
    let through = tool.ok(&SHORT);
    assert!(through.err.contains("runs in the server at"), "{through:#?}");
    let doctor = tool.json(&["doctor"]);
    let completed = |figure: &&Value| figure["name"] == "papertape_jobs{status=\"completed\"}";
    let figures = doctor["metrics"].as_array().expect("figures");
    assert_eq!(figures.iter().find(completed).expect("is there")["value"], "2");
    serving.signal(Signal::TERM);
    let ended = serving.end();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.err.contains("1 is configured") && !ended.err.contains(token), "{ended:#?}");
    assert!(!file.exists());
}

/// Goal: a server that others could reach does not start without tokens, and says how to create one; an
/// invalid config is reported with its key, and a token in it is not repeated.
#[test]
fn invalid_access_settings_are_rejected_at_startup() {
    let open = Tool::new().ends(&["serve", "--listen", "0.0.0.0:0"], 2);
    assert!(open.err.contains("auth.tokens") && open.err.contains("papertape auth token"), "{open:#?}");
    let check = |toml: &str, told: &str| {
        let done = Tool::new().configured(toml).ends(&["config", "show"], 2);
        assert!(done.err.contains(told), "{done:#?}");
        done.err
    };
    let hash = format!("blake3:{}", "ab".repeat(32));
    let token = |name: &str, hash: &str| {
        format!("[[auth.tokens]]\nname = '{name}'\nscope = 'read'\nhash = '{hash}'\n")
    };
    let secret = format!("ptk_{}", "cd".repeat(32));
    assert!(!check(&token("a", &secret), "papertape auth token").contains(&secret));
    check(&format!("{0}{0}", token("a", &hash)), "duplicate name `a`");
    check(&format!("{}{}", token("a", &hash), token("b", &hash)), "`b` has the same hash as another token");
    check(&token("", &hash), "has no name");
    check("[auth]\nsession_hours = 0", "auth.session_hours");
    check(&token("a", &hash).replace("'read'", "'write'"), "auth.tokens.0.scope");
    check("[otlp]\nendpoint = 'localhost'", "otlp.endpoint");
}

/// Goal: open streams, idle connections and clients that never read do not block the server's shutdown: it
/// ends by itself, before the forced close after five seconds.
#[test]
fn open_streams_do_not_block_shutdown() {
    // Its jobs wait for a worker, so that their streams stay open.
    let tool = Tool::new().with("PAPERTAPE_SERVER__RUN_JOBS", "false");
    let job = tool.job(&SHORT);
    let queued =
        tool.job(&["branch", &job, "--date", "2012-10-02", "--instructions", "Be bold.", "--no-run"]);
    let (serving, address) = serve(&tool);
    let path = format!("/jobs/{queued}/stream");
    let mut streams: Vec<TcpStream> = (0..50).map(|_| ask(&address, &path, "")).collect();
    for stream in &mut streams {
        let mut first = [0; 15];
        stream.read_exact(&mut first).expect("it begins");
        assert_eq!(&first, b"HTTP/1.1 200 OK");
    }
    let idle = TcpStream::connect(&address).expect("connects");
    serving.signal(Signal::TERM);
    let ended = serving.end();
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(!ended.err.contains("aborted") && ended.err.ends_with("stopped\n"), "{ended:#?}");
    for mut stream in streams {
        let mut rest = String::new();
        stream.read_to_string(&mut rest).expect("it ends as it should");
        assert!(rest.contains("event: snapshot") && rest.ends_with("0\r\n\r\n"), "{rest}");
    }
    drop(idle);
}

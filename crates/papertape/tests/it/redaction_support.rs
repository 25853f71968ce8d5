//! Planted secrets, and the search for them everywhere afterwards.
//!
//! To cover a further way in, plant [`Planted::everything`] there; for a further way out, pass its output to
//! [`Net::check`].

use crate::cli_tool::Tool;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Stdio};

/// The corpora that measure the rules; a scanner's triggers are split by this sign.
const CORPORA: [&str; 3] = [
    include_str!("../../../redact/tests/it/fixtures/own.json"),
    include_str!("../../../redact/tests/it/fixtures/more.json"),
    include_str!("../../../redact/tests/it/fixtures/tokens.json"),
];
const SPLIT: char = '¦';
/// Shorter ones occur by chance.
const SHORTEST: usize = 8;

/// A configured credential without a recognizable pattern.
pub(crate) const KEY: &str = "plain-words&of/no=shape+42";
/// Another one, of a tool server.
pub(crate) const TOOL_SECRET: &str = "another one \"in\" quotes";

/// What is planted, and what must never appear.
pub(crate) struct Planted {
    texts: Vec<String>,
    secrets: Vec<(String, String)>,
}

impl Planted {
    /// The corpus, and the configured credentials in several spellings.
    pub(crate) fn new() -> Self {
        let read = |corpus: &str| serde_json::from_str::<Vec<Value>>(corpus).expect("a corpus");
        let cases: Vec<Value> = CORPORA.into_iter().flat_map(read).collect();
        let text = |case: &Value, key: &str| case[key].as_str().map(|text| text.replace(SPLIT, ""));
        let mut planted = Self { texts: Vec::new(), secrets: Vec::new() };
        for case in &cases {
            // For a token pattern, the whole sample is the secret.
            if let (Some(prefix), Some(sample)) = (text(case, "prefix"), text(case, "sample")) {
                planted.texts.push(format!("It is {sample} now."));
                planted.secrets.push((format!("a token {prefix}"), sample));
                continue;
            }
            let Some(secret) = text(case, "secret").filter(|secret| secret.chars().count() >= SHORTEST)
            else {
                continue;
            };
            planted.texts.push(text(case, "input").expect("a text"));
            planted.secrets.push((text(case, "name").expect("a name"), secret));
        }
        let configured = [
            ("as it is", KEY.to_owned(), KEY),
            ("URL-encoded", percent(KEY), &percent(KEY)),
            ("in base64", base64(KEY), &base64(KEY)),
            ("of a tool", format!("{TOOL_SECRET} or {}", Value::from(TOOL_SECRET)), TOOL_SECRET),
        ]
        .map(|(name, text, secret)| (name, text, secret.to_owned()));
        for (name, text, secret) in configured {
            planted.texts.push(format!("So it is {text}, and so on."));
            planted.secrets.push((format!("a configured one {name}"), secret));
        }
        planted
    }

    /// One half of it, for places that limit the length of a text.
    pub(crate) fn half(which: usize) -> Self {
        let Self { texts, secrets } = Self::new();
        let own = |at: &usize| at % 2 == which % 2;
        let texts = texts.into_iter().enumerate().filter(|(at, _)| own(at)).map(|(_, text)| text).collect();
        let secrets = secrets.into_iter().enumerate().filter(|(at, _)| own(at)).map(|(_, one)| one).collect();
        Self { texts, secrets }
    }

    /// All of it in one text.
    pub(crate) fn everything(&self) -> String {
        self.texts.join("\n\nThen:\n\n")
    }

    /// The number of different secrets.
    pub(crate) fn count(&self) -> usize {
        self.secrets.iter().map(|(_, secret)| secret).collect::<std::collections::BTreeSet<_>>().len()
    }

    /// One of the pieces that are short enough for a name.
    pub(crate) fn piece(&self, n: usize) -> String {
        let short: Vec<&String> = self.texts.iter().filter(|text| text.chars().count() < 150).collect();
        short[n % short.len()].replace('\n', " ")
    }

    /// Searches for all of it.
    pub(crate) fn net(&self) -> Net {
        let mut needles = Vec::new();
        for (name, secret) in &self.secrets {
            // As it is, and as encoded in JSON, once and twice.
            let once = within_json(secret);
            let twice = within_json(&once);
            for needle in [secret.clone(), once, twice] {
                if !needles.iter().any(|(_, known)| *known == needle) {
                    needles.push((name.clone(), needle));
                }
            }
        }
        Net { needles, found: Vec::new(), checked_at: 0 }
    }
}

/// Catches secrets.
pub(crate) struct Net {
    needles: Vec<(String, String)>,
    found: Vec<String>,
    checked_at: usize,
}

impl Net {
    /// Searches some output.
    pub(crate) fn check(&mut self, place: &str, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.checked_at += bytes.len();
        // Bytes that are not text are skipped, but not those around them.
        let text = String::from_utf8_lossy(bytes);
        for (name, needle) in &self.needles {
            if let Some(at) = text.find(needle.as_str()) {
                let before: String =
                    text[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
                self.found.push(format!("{place}: {name}, after {before:?}"));
            }
        }
    }

    /// Searches every file in a directory and its subdirectories.
    pub(crate) fn check_directory(&mut self, directory: &Path) {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                // A dataset is the user's input, byte for byte; what is read from it is redacted on reading.
                if path.file_name().is_some_and(|name| name != "datasets") {
                    self.check_directory(&path);
                }
                continue;
            }
            match std::fs::read(&path) {
                Ok(bytes) => self.check(&path.display().to_string(), bytes),
                // A running server removes and renames its own files.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => panic!("{}: {error}", path.display()),
            }
        }
    }

    /// Asserts that nothing was found in at least this many bytes.
    pub(crate) fn assert_empty(self, bytes: usize) {
        assert!(self.found.is_empty(), "{} finds:\n{}", self.found.len(), self.found.join("\n"));
        assert!(self.checked_at >= bytes, "only {} bytes were looked at", self.checked_at);
    }
}

/// A server whose log, at the most verbose level, goes to a file.
pub(crate) struct Serving {
    child: Child,
    pub(crate) url: String,
}

impl Serving {
    pub(crate) fn start(tool: &Tool) -> Self {
        let log = tool.path("serve.log");
        let mut command = tool.command(&["serve", "--json"]);
        command.stdout(Stdio::piped()).stderr(File::create(log).expect("a file"));
        let mut child = command.spawn().expect("it starts");
        let mut text = String::new();
        let mut lines = std::io::BufReader::new(child.stdout.take().expect("is piped"));
        while !text.contains('}') {
            assert!(
                std::io::BufRead::read_line(&mut lines, &mut text).expect("text") > 0,
                "it ended: {text}"
            );
        }
        let said: Value = serde_json::from_str(&text).expect("JSON");
        Self { child, url: said["url"].as_str().expect("an address").to_owned() }
    }

    pub(crate) fn stop(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).expect("it is there");
        assert!(self.child.wait().expect("it ends").success());
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A text as encoded between JSON quotes.
fn within_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn percent(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Base64 by hand: this crate does not need it elsewhere.
fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in text.as_bytes().chunks(3) {
        let bits =
            (0..3).fold(0_usize, |bits, at| bits << 8 | three.get(at).map_or(0, |byte| usize::from(*byte)));
        for at in 0..4 {
            let digit = char::from(DIGITS[bits >> (18 - 6 * at) & 63]);
            out.push(if at <= three.len() { digit } else { '=' });
        }
    }
    out
}

/// The net catches what it must: each needle is found where it was planted.
#[test]
fn the_net_has_no_holes() {
    assert_eq!([base64("a"), base64("ab"), base64("abc")], ["YQ==", "YWI=", "YWJj"]);
    let planted = Planted::new();
    assert!(planted.count() >= 200, "{} secrets", planted.count());
    let plain = planted.everything();
    let quoted = serde_json::json!({ "text": plain }).to_string();
    for (place, text) in [("the text itself", &plain), ("JSON", &quoted)] {
        let escapes = |one: &&(String, String)| {
            let mut net = Planted { texts: Vec::new(), secrets: vec![(*one).clone()] }.net();
            net.check(place, text);
            net.found.is_empty()
        };
        let missed: Vec<_> = planted.secrets.iter().filter(escapes).collect();
        assert!(missed.is_empty(), "{place}: {missed:?}");
    }
}

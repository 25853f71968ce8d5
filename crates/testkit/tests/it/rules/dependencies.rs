//! Dependencies are one-way, and a crate cannot reach what it must not know.
//!
//! Direct dependencies are read from the manifests by cargo; transitive ones from `Cargo.lock`, which covers
//! every platform and feature, so a pass here holds on all of them.

use super::{hold, repo};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Which of our crates each crate may use outside its tests.
const MAY_USE: &[(&str, &[&str])] = &[
    ("papertape-redact", &[]),
    ("papertape-core", &["papertape-redact"]),
    ("papertape-embed", &[]),
    ("papertape-evidence", &["papertape-core"]),
    ("papertape-agents", &["papertape-core", "papertape-embed"]),
    ("papertape-assistant", &["papertape-core", "papertape-redact"]),
    ("papertape-house", &["papertape-core"]),
    ("papertape-llm", &["papertape-core"]),
    ("papertape-market", &["papertape-core"]),
    ("papertape-store", &["papertape-core", "papertape-redact"]),
    ("papertape-protocol", &["papertape-core"]),
    (
        "papertape-runtime",
        &[
            "papertape-core",
            "papertape-redact",
            "papertape-agents",
            "papertape-assistant",
            "papertape-evidence",
        ],
    ),
    (
        "papertape-service",
        &[
            "papertape-core",
            "papertape-redact",
            "papertape-agents",
            "papertape-assistant",
            "papertape-embed",
            "papertape-evidence",
            "papertape-house",
            "papertape-llm",
            "papertape-market",
            "papertape-protocol",
            "papertape-store",
            "papertape-runtime",
        ],
    ),
    (
        "papertape-api",
        &[
            "papertape-core",
            "papertape-protocol",
            "papertape-redact",
            "papertape-agents",
            "papertape-assistant",
            "papertape-store",
            "papertape-runtime",
            "papertape-service",
        ],
    ),
    (
        "papertape-cli",
        &[
            "papertape-core",
            "papertape-protocol",
            "papertape-redact",
            "papertape-agents",
            "papertape-assistant",
            "papertape-llm",
            "papertape-market",
            "papertape-store",
            "papertape-runtime",
            "papertape-service",
        ],
    ),
    (
        "papertape-integrations",
        &[
            "papertape-core",
            "papertape-redact",
            "papertape-agents",
            "papertape-llm",
            "papertape-market",
            "papertape-protocol",
            "papertape-store",
            "papertape-runtime",
            "papertape-service",
        ],
    ),
    (
        "papertape",
        &[
            "papertape-core",
            "papertape-redact",
            "papertape-agents",
            "papertape-market",
            "papertape-protocol",
            "papertape-runtime",
            "papertape-service",
            "papertape-api",
            "papertape-cli",
            "papertape-integrations",
        ],
    ),
    ("papertape-testkit", &["papertape-core", "papertape-redact"]),
];

/// Crates that must be pure: no direct or transitive dependency may be one of `OUT_OF_REACH`.
const PURE: &[&str] = &[
    "papertape-redact",
    "papertape-core",
    "papertape-agents",
    "papertape-assistant",
    "papertape-embed",
    "papertape-evidence",
    "papertape-house",
];
const OUT_OF_REACH: &[&str] = &[
    "async-std",
    "axum",
    "deadpool-postgres",
    "hyper",
    "mio",
    "reqwest",
    "rmcp",
    "rusqlite",
    "smol",
    "tokio",
    "tokio-postgres",
    "tracing-subscriber",
];
/// Forbidden as direct dependencies of a pure crate: sources of randomness.
const NOT_ASKED_FOR: &[&str] = &["fastrand", "getrandom", "rand", "uuid"];

/// Libraries that only one crate may use.
const ONE_OWNER: &[(&str, &str)] = &[
    ("deadpool-postgres", "papertape-store"),
    ("libsqlite3-sys", "papertape-store"),
    ("rusqlite", "papertape-store"),
    ("tokio-postgres", "papertape-store"),
    ("tracing-subscriber", "papertape"),
];

/// The packages of this workspace with what they use outside their tests.
fn members() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--no-deps", "--format-version=1"])
        .current_dir(repo::root())
        .output()
        .expect("cargo can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo's account is JSON");
    let mut members = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        let used = dependencies.iter().filter(|dependency| dependency["kind"] != "dev");
        members.insert(text(&package["name"]), used.map(|dependency| text(&dependency["name"])).collect());
    }
    assert!(members.contains_key("papertape-core"), "the workspace has its crates: {members:?}");
    members
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Every package of `Cargo.lock` by name, with the dependencies of all its versions.
fn locked() -> BTreeMap<String, BTreeSet<String>> {
    let lock = std::fs::read_to_string(repo::root().join("Cargo.lock")).expect("Cargo.lock can be read");
    let lock: toml::Table = lock.parse().expect("Cargo.lock is TOML");
    let mut locked = BTreeMap::<String, BTreeSet<String>>::new();
    for package in lock["package"].as_array().expect("packages") {
        let name = package["name"].as_str().expect("a name").to_owned();
        let dependencies = package.get("dependencies").and_then(toml::Value::as_array);
        // A dependency is written `name`, or `name version` if there are several versions.
        let names = dependencies.into_iter().flatten().filter_map(|dependency| {
            dependency.as_str().and_then(|dependency| dependency.split(' ').next()).map(str::to_owned)
        });
        locked.entry(name).or_default().extend(names);
    }
    locked
}

/// All transitive dependencies of `start`, each with the path that leads to it.
fn reached(
    start: &BTreeSet<String>,
    locked: &BTreeMap<String, BTreeSet<String>>,
) -> BTreeMap<String, String> {
    let mut ways = BTreeMap::new();
    let mut open: Vec<(String, String)> = start.iter().map(|name| (name.clone(), name.clone())).collect();
    while let Some((name, way)) = open.pop() {
        if ways.contains_key(&name) {
            continue;
        }
        for next in locked.get(&name).into_iter().flatten() {
            open.push((next.clone(), format!("{way} -> {next}")));
        }
        ways.insert(name, way);
    }
    ways
}

#[test]
fn dependencies_go_one_way() {
    let members = members();
    let may_use: BTreeMap<_, _> = MAY_USE.iter().copied().collect();
    let mut findings = Vec::new();
    for (name, used) in &members {
        let Some(allowed) = may_use.get(name.as_str()) else {
            findings.push(format!("{name}: is not in the table; say in a decision note where it stands"));
            continue;
        };
        for other in used.iter().filter(|other| members.contains_key(*other)) {
            if !allowed.contains(&other.as_str()) {
                findings.push(format!("{name} uses {other}"));
            }
        }
    }
    hold(
        "core <- {agents, assistant, evidence, house, llm, market, store, protocol}; {core, agents, assistant, evidence} <- runtime; \
         {runtime, store, market, llm, house, evidence, protocol} <- service <- {api, cli, integrations} <- papertape; the test kit is for tests alone:",
        &findings,
    );
}

#[test]
fn pure_crates_cannot_reach_the_outside() {
    let (members, locked) = (members(), locked());
    let mut findings = Vec::new();
    for name in PURE {
        let mut asked = members[*name].clone();
        for banned in NOT_ASKED_FOR.iter().filter(|banned| asked.contains(**banned)) {
            findings.push(format!("{name} uses {banned}: randomness is an argument"));
        }
        // Our own crates are checked separately: the lock file would add their test dependencies.
        asked.retain(|dependency| !members.contains_key(dependency));
        let ways = reached(&asked, &locked);
        for banned in OUT_OF_REACH {
            if let Some(way) = ways.get(*banned) {
                findings.push(format!("{name} -> {way}"));
            }
        }
    }
    hold(
        "core, agents and house are pure; no runtime, database, HTTP or model API may come along:",
        &findings,
    );
}

#[test]
fn one_crate_alone_knows_each_outside() {
    let mut findings = Vec::new();
    for (name, used) in members() {
        for (library, owner) in ONE_OWNER {
            if name != *owner && used.contains(*library) {
                findings.push(format!("{name} uses {library}, which {owner} alone knows"));
            }
        }
    }
    hold("databases belong to store, model APIs to llm, log subscribers to the binary:", &findings);
}

#[test]
fn the_way_to_a_reached_crate_is_told() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let locked = [("a", names(&["b"])), ("b", names(&["c", "a"])), ("c", names(&[]))];
    let locked = locked.into_iter().map(|(name, used)| (name.to_owned(), used)).collect();
    let ways = reached(&names(&["a"]), &locked);
    assert_eq!(ways["c"], "a -> b -> c");
    assert_eq!(ways.len(), 3);
}

//! The configuration: where values come from, and how invalid ones are reported.

use crate::cli_tool::Tool;
use papertape_agents::config::{AgentConfig, DeskConfig};
use papertape_core::broker::MarketProfile;
use papertape_core::id::AgentName;
use papertape_llm::CutoffConfig;
use papertape_protocol::access::Scope;
use papertape_service::access::{AccessToken, TokenHash};
use papertape_service::config::{Config, ExternalAgent, ToolServer, keys};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Collects every path that can have a value.
fn paths(value: &Value, prefix: &str, into: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                paths(value, &path, into);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            items.iter().for_each(|item| paths(item, &format!("{prefix}[]"), into));
        }
        other => {
            into.insert(prefix.to_owned(), other.clone());
        }
    }
}

/// The document lists exactly the keys of the configuration, with their defaults.
#[test]
fn every_key_is_documented_with_its_default() {
    let mut agent = AgentConfig::solo(AgentName::new("x"), "house::momentum".parse().expect("is a model"));
    agent.desk = Some(DeskConfig::default());
    let mut config = Config { agents: vec![agent], ..Config::default() };
    config.models.providers.insert("NAME".to_owned(), Default::default());
    config.models.cutoffs.push(CutoffConfig { model: String::new(), date: None });
    config.tools.insert("NAME".to_owned(), ToolServer::default());
    let env = [("NAME".to_owned(), String::new())].into();
    config.external_agents.insert("NAME".to_owned(), ExternalAgent { env, ..ExternalAgent::default() });
    config.markets.insert("NAME".to_owned(), MarketProfile::us_equity().frictionless());
    config.otlp.headers.insert("NAME".to_owned(), String::new());
    config.auth.tokens.push(AccessToken {
        name: "NAME".to_owned(),
        scope: Scope::Read,
        hash: TokenHash::of("any"),
    });
    let mut known = BTreeMap::new();
    paths(&config.to_json().expect("is JSON"), "", &mut known);
    // Keys that are omitted if they are not set.
    let optional = [
        "agents[].external.max_orders",
        "agents[].external.max_requests",
        "agents[].external.name",
        "agents[].instructions",
        "agents[].sampling.stop",
        "agents[].tools",
        "agents[].desk.quick_think_llm",
        "agents[].desk.deep_think_llm",
        "markets.NAME.trading_days_per_year",
    ];
    for optional in optional {
        known.insert(optional.to_owned(), Value::Null);
    }
    let lines = ["job", "agent", "day", "summaries"].map(|line| format!("simulation.budget.{line}"));
    for line in lines.into_iter().chain(["chat.budget", "chat.simulation_budget"].map(str::to_owned)) {
        known.remove(&line);
        for unit in ["tokens", "usd"] {
            known.entry(format!("{line}.{unit}")).or_insert(Value::Null);
        }
    }
    let documented: BTreeMap<String, String> =
        keys::all().into_iter().map(|key| (key.key, key.default)).collect();
    let names = |keys: BTreeSet<&String>| keys.into_iter().cloned().collect::<Vec<_>>();
    assert_eq!(names(known.keys().collect()), names(documented.keys().collect()));
    for (key, default) in &documented {
        let is = match &known[key] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        // A market's and a token's keys have no defaults, and the test sets an agent's name and model.
        let is_given = key.starts_with("markets.")
            || key.starts_with("auth.tokens[]")
            || ["agents[].name", "agents[].model"].contains(&key.as_str());
        let is_list = default == "[]" && is.is_empty();
        assert!(is_given || is_list || *default == is, "{key}: `{default}` in the document, `{is}` in truth");
    }
}

#[test]
fn a_misspelled_key_is_rejected_with_the_nearest_one() {
    let check = |toml: &str, key: &str, meant: &str| {
        let done = Tool::new().configured(toml).ends(&["jobs"], 2);
        let expected = format!("in papertape.toml: unknown key `{key}`; did you mean `{meant}`?");
        assert!(done.err.contains(&expected), "{toml}: {done:#?}");
        assert_eq!(done.err.trim_end().lines().count(), 1, "{done:#?}");
    };
    check("datadir = 'x'", "datadir", "data_dir");
    check("[worker]\nlease_sec = 3", "worker.lease_sec", "lease_secs");
    check("[simulation.budget.job]\ntoken = 3", "simulation.budget.job.token", "tokens");
    check("[models.providers.x]\nbase_ulr = 'y'", "models.providers.x.base_ulr", "base_url");
    check("[tools.x]\ncommnad = ['y']", "tools.x.commnad", "command");
    let agent = "[[agents]]\nname = 'a'\nmodel = 'house::momentum'\n";
    check(&format!("{agent}toools = []"), "agents.0.toools", "tools");
    check(&format!("{agent}[agents.limits]\nmax_step = 1"), "agents.0.limits.max_step", "max_steps");
    check(
        &format!("{agent}{agent}[agents.sampling]\ntemprature = 1"),
        "agents.1.sampling.temprature",
        "temperature",
    );
}

/// Goal: a value that can never work is rejected at startup, by its key.
#[test]
fn impossible_values_are_rejected() {
    let cases = [
        ("[server]\nallowed_origins = ['*']", "server.allowed_origins: invalid origin `*`"),
        (
            "[server]\nallowed_origins = ['https://x.example/path']",
            "server.allowed_origins: invalid origin `https://x.example/path`",
        ),
        ("[server]\nallowed_hosts = ['*']", "server.allowed_hosts: invalid host name `*`"),
        ("[server]\nbody_limit_bytes = 0", "server.body_limit_bytes: must be greater than 0"),
        ("[worker]\nparallel_jobs = 0", "worker.parallel_jobs: must be greater than 0"),
        (
            "[worker]\nlease_secs = 9000000000000000000",
            "worker.lease_secs: 9000000000000000000 is out of range; expected 1 to 31536000",
        ),
        ("[worker]\npoll_interval_ms = 31536000001", "worker.poll_interval_ms: 31536000001 is out of range"),
        ("[chat]\njob_wait_secs = 31536001", "chat.job_wait_secs: 31536001 is out of range"),
        ("[chat]\nmax_rounds = 0", "chat.max_rounds: must be greater than 0"),
        ("[chat]\ntemperature = 2.5", "chat.temperature: 2.5 is out of range; expected 0 to 2"),
        ("[chat]\nmax_tokens = 0", "chat.max_tokens: must be greater than 0"),
        ("[chat.budget]\ntokens = 0", "chat.budget.tokens: must be greater than 0"),
        ("[chat.budget]\nusd = -1", "chat.budget.usd: must not be negative, got -1"),
        ("[chat.simulation_budget]\nusd = -1", "chat.simulation_budget.usd: must not be negative, got -1"),
        ("[web_search]\ntimeout_secs = 0", "web_search.timeout_secs: must be greater than 0"),
        ("[simulation]\ninitial_cash = -5", "simulation.initial_cash: -5 is out of range"),
        ("[simulation]\ninitial_cash = 0", "simulation.initial_cash: 0 is out of range"),
        ("[simulation]\ninitial_cash = 1e13", "simulation.initial_cash: 10000000000000 is out of range"),
        ("[simulation]\ninitial_cash = nan", "simulation.initial_cash"),
        ("[simulation]\ninitial_cash = inf", "simulation.initial_cash"),
        ("[simulation.budget.job]\nusd = -5", "simulation.budget.job.usd: must not be negative, got -5"),
        ("[simulation.budget.agent]\ntokens = -5", "simulation.budget.agent.tokens"),
        ("[simulation.budget.day]\ntokens = 0", "simulation.budget.day.tokens: must be greater than 0"),
    ];
    let agent = |keys: &str| format!("[[agents]]\nname = 'a'\nmodel = 'house::momentum'\n{keys}");
    let agents = [
        (agent("limits = { max_steps = 0 }"), "agents: `a`: limits.max_steps must be above 0"),
        (agent("limits = { session_timeout_secs = 0 }"), "limits.session_timeout_secs must be above 0"),
        (
            agent("limits = { call_timeout_secs = 31536001 }"),
            "limits.call_timeout_secs: 31536001 is out of range",
        ),
        (agent("sampling = { temperature = -0.1 }"), "sampling.temperature: -0.1 is out of range"),
        (agent("sampling = { top_p = 1.1 }"), "sampling.top_p: 1.1 is out of range; expected 0 to 1"),
        (agent("kind = 'desk'\ndesk.sizing.min_order = '2'"), "`a`: desk.sizing.min_order must be from 0"),
    ];
    let cases = cases.into_iter().chain(agents.iter().map(|(toml, message)| (toml.as_str(), *message)));
    for (toml, message) in cases {
        let done = Tool::new().configured(toml).ends(&["serve"], 2);
        assert!(done.err.contains(message), "{toml}: {done:#?}");
    }
    // No tokens for summaries, no money and no simulations are settings that work.
    let fine = "[simulation.budget.summaries]\ntokens = 0\n[simulation.budget.job]\nusd = 0\n\
        [chat.simulation_budget]\ntokens = 0";
    Tool::new().configured(fine).ok(&["config", "show"]);
    let fine = "[server]\nallowed_origins = ['https://x.example', 'http://localhost:5173']\nallowed_hosts = ['x.example:80']";
    Tool::new().configured(fine).ok(&["config", "show"]);
}

/// Goal: all unknown keys and invalid values of a file are reported at once, each with its own line.
#[test]
fn all_invalid_keys_are_reported() {
    let toml = "datadir = 'x'\nmode = 'test'\n[worker]\nlease_sec = 3\nparallel_jobs = 'two'\n[simulation.memory]\n\
        keep_rounds = 1\n[[agents]]\nname = 'a'\nmodel = 'momentum'\ntoools = []\nlimit = 1";
    let done = Tool::new().configured(toml).with("PAPERTAPE_SERVER__WORK", "true").ends(&["jobs"], 2);
    let expected = [
        "in papertape.toml: unknown key `datadir`; did you mean `data_dir`?",
        "in papertape.toml: `mode`",
        "in papertape.toml: unknown key `worker.lease_sec`; did you mean `lease_secs`?",
        "in papertape.toml: `worker.parallel_jobs` is",
        "in papertape.toml: unknown key `simulation.memory.keep_rounds`; did you mean `max_stored_rounds`?",
        "in papertape.toml: `agents.0.model`",
        "in papertape.toml: unknown key `agents.0.toools`; did you mean `tools`?",
        "in papertape.toml: unknown key `agents.0.limit`; did you mean `limits`?",
        "in the environment variable PAPERTAPE_SERVER__WORK: unknown key `server.work`; did you mean `run_jobs`?",
    ];
    for line in expected {
        assert_eq!(
            done.err.lines().filter(|other| other.trim().starts_with(line)).count(),
            1,
            "{line}: {done:#?}"
        );
    }
    assert_eq!(done.err.trim_end().lines().count(), expected.len() + 1, "{done:#?}");
}

#[test]
fn a_misspelled_variable_is_rejected_with_the_nearest_one() {
    let check = |name: &str, meant: &str| {
        let done = Tool::new().with(name, "1").ends(&["jobs"], 2);
        assert!(
            done.err.contains(name) && done.err.contains(&format!("did you mean `{meant}`?")),
            "{done:#?}"
        );
    };
    check("PAPERTAPE_DATADIR", "data_dir");
    check("PAPERTAPE_WORKR__POLL_INTERVAL_MS", "worker");
    check("PAPERTAPE_WORKER__POL_INTERVAL_MS", "poll_interval_ms");
    check("PAPERTAPE_WORKER__POLL_MS", "poll_interval_ms");
    check("PAPERTAPE_SIMULATION__BUDGET__JOB__USDD", "usd");
}

#[test]
fn variables_override_the_file_unless_empty() {
    let tool = Tool::new()
        .configured("listen = '127.0.0.1:1'\nlog = 'error'\n[simulation]\ninitial_cash = 5\nsymbols = ['FB']")
        .with("PAPERTAPE_LISTEN", "127.0.0.1:2")
        .with("PAPERTAPE_LOG", "")
        .with("PAPERTAPE_DATA_DIR", "2024")
        .with("PAPERTAPE_SIMULATION__INITIAL_CASH", "0.10")
        .with("PAPERTAPE_SIMULATION__SYMBOLS", "AAPL, IBM")
        .with("PAPERTAPE_SERVER__RUN_JOBS", "false")
        .with("PAPERTAPE_DATABASE_URL", "postgres://user:hunter2-secret@127.0.0.1:9/x");
    let shown = tool.json(&["config", "show"]);
    assert_eq!((&shown["listen"], &shown["log"]), (&"127.0.0.1:2".into(), &"error".into()));
    assert_eq!((&shown["data_dir"], &shown["server"]["run_jobs"]), (&"2024".into(), &false.into()));
    assert_eq!(shown["simulation"]["initial_cash"], "0.10");
    assert_eq!(shown["simulation"]["symbols"], serde_json::json!(["AAPL", "IBM"]));
    assert_eq!(shown["database_url"], "postgres://user:***@127.0.0.1:9/x");
    // Every command uses the variables, and none shows the password.
    let done = tool.ends(&["jobs"], 1);
    assert!(done.err.contains("database") && !done.err.contains("hunter2"), "{done:#?}");
}

#[test]
fn invalid_values_are_reported_with_their_key() {
    let check = |toml: &str, message: &str| {
        let done = Tool::new().configured(toml).ends(&["config", "show"], 2);
        assert!(done.err.contains(message), "{done:#?}");
        assert_eq!(done.err.trim_end().lines().count(), 1, "{done:#?}");
    };
    check("log_format = 5", "`log_format`");
    check("mode = 'test'", "`mode`");
    check("mode = ", "TOML parse error at line 1");
    check("[[agents]]\nname = 'a'", "missing key `agents.0.model`");
    check("[[agents]]\nname = 'a'\nmodel = 'b'", "provider::model");
    check("[tools.x]\nallow_unbounded = true", "tools.x: set either `command` or `url`");
    let done = Tool::new().ends(&["--config", "nope.toml", "jobs"], 2);
    assert!(done.err.contains("config file not found: nope.toml"), "{done:#?}");
}

#[test]
fn the_configuration_can_be_shown() {
    let tool = Tool::new().configured("log = 'warn'");
    assert_eq!(tool.ok(&["config", "path"]).out.trim_end(), "papertape.toml");
    let shown = tool.ok(&["config", "show"]).out;
    // The output is itself a config.
    let again = Tool::new().configured(&shown);
    assert_eq!(again.ok(&["config", "show"]).out, shown);
    assert!(tool.ok(&["config", "keys"]).out.contains("worker.lease_secs"));
    assert_eq!(tool.json(&["config", "keys"]).as_array().map(Vec::len), Some(keys::all().len()));
}

/// Goal: a former key is an error that names its successor, and a key that is stored under another name is read, shown
/// and reported under its own.
#[test]
fn former_keys_name_their_successors() {
    let check = |toml: &str, former: &str, key: &str| {
        let done = Tool::new().configured(toml).ends(&["jobs"], 2);
        let expected = format!("in papertape.toml: unknown key `{former}`; did you mean `{key}`?");
        assert!(done.err.contains(&expected), "{toml}: {done:#?}");
    };
    check("[server]\nwork = true", "server.work", "run_jobs");
    check("[server]\nconnections = 1", "server.connections", "max_connections");
    check("[otlp]\nevery_secs = 1", "otlp.every_secs", "export_interval_secs");
    check("[tools.x]\nrepeatable = []", "tools.x.repeatable", "idempotent_tools");
    check("[simulation.memory]\nkeep_rounds = 1", "simulation.memory.keep_rounds", "max_stored_rounds");
    check(
        "[simulation.memory]\nmax_stored_round = 1",
        "simulation.memory.max_stored_round",
        "max_stored_rounds",
    );
    check("[markets.x]\nlends = true", "markets.x.lends", "allows_margin");
    let agent = "[[agents]]\nname = 'a'\nmodel = 'house::momentum'\nkind = 'desk'\n[agents.desk.sizing]\n";
    check(&format!("{agent}least_order = '0.1'"), "agents.0.desk.sizing.least_order", "min_order");

    let tool = Tool::new().configured(&format!("{agent}min_order = '0.1'"));
    let tool = tool.with("PAPERTAPE_SIMULATION__MEMORY__MAX_STORED_ROUNDS", "7");
    let config = tool.json(&["config", "show"]);
    assert_eq!(config["simulation"]["memory"]["max_stored_rounds"], 7);
    assert_eq!(config["agents"][0]["desk"]["sizing"]["min_order"], "0.1");
    let invalid = tool.with("PAPERTAPE_SIMULATION__MEMORY__MAX_STORED_ROUNDS", "0").ends(&["jobs"], 2);
    assert!(invalid.err.contains("simulation.memory.max_stored_rounds: "), "{invalid:#?}");
}

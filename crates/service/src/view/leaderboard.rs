//! Leaderboards: completed runs, grouped by what makes them comparable.
//!
//! A board is found from the configs of jobs, which are cached. Daily values are read only for the boards of a response.

use super::compare::{EvaluatedBoard, evaluate, load_board, run_key};
use super::{deployment, masked, plain, rows};
use crate::app::App;
use crate::board_cache::{NotFresh, RunKey};
use crate::error::ServiceError;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::json;
use papertape_core::time::Timestamp;
use papertape_evidence::METHOD_VERSION;
use papertape_protocol::leaderboard::{
    Board, DEFAULT_BOARDS, ExcludedRuns, LeaderboardQuery, LeaderboardResponse, MAX_BOARDS,
    MAX_CONFIGURATIONS, MAX_RUNS, MAX_TRIALS,
};
use papertape_runtime::config::SimulationConfig;
use papertape_store::CompletedRun;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Configs in memory at a time.
const CONFIGS: usize = 256;

/// The boards that match, those with the newest runs first.
///
/// # Errors
/// An invalid parameter; no such board; a database error.
pub async fn leaderboard(app: &App, query: LeaderboardQuery) -> Result<LeaderboardResponse, ServiceError> {
    let limit = rows(query.limit, DEFAULT_BOARDS, MAX_BOARDS)?;
    let board = plain("board", query.board.as_ref())?;
    let dataset = plain("dataset", query.dataset.as_ref())?;
    let market = plain("market", query.market.as_ref())?;
    let model = plain("model", query.model.as_ref())?;
    let (mut groups, excluded) = grouped(app).await?;
    groups.retain(|group| {
        let of = &group.board;
        let has_model = |model: &str| {
            of.models.iter().any(|known| known == model)
                || group.runs.iter().any(|run| run.agent.as_str() == model)
        };
        board.is_none_or(|board| of.board_id == board)
            && dataset.is_none_or(|dataset| of.dataset == dataset || of.dataset_hash == dataset)
            && market.is_none_or(|market| of.market == market || of.market_hash == market)
            && model.is_none_or(has_model)
    });
    if let (Some(board), true) = (board, groups.is_empty()) {
        return Err(ServiceError::NotFound(format!("there is no board {}", board.escape_default())));
    }
    let total = groups.len();
    let (mut boards, mut used) = (Vec::new(), 0);
    for group in groups.into_iter().take(usize::try_from(limit).unwrap_or(usize::MAX)) {
        let selection = Selection::of(&group);
        let has_room = used == 0 || used + selection.runs <= MAX_RUNS;
        if query.summary || !has_room {
            boards.push(group.board);
            continue;
        }
        used += selection.runs;
        boards.push(Box::pin(evaluated(app, group.board, selection)).await?);
    }
    let is_partial =
        |board: &Board| board.entries.is_none() && !query.summary || board.omitted_configurations > 0;
    Ok(LeaderboardResponse {
        method_version: METHOD_VERSION,
        count: boards.len(),
        total,
        is_truncated: boards.len() < total || boards.iter().any(is_partial),
        boards,
        excluded,
        deployment: deployment(app),
    })
}

/// A board with its runs, newest first.
struct Group {
    board: Board,
    runs: Vec<GroupedRun>,
}

struct GroupedRun {
    job: JobId,
    epoch: i64,
    created_at: Timestamp,
    agent: AgentName,
    configuration: String,
    is_deterministic: bool,
}

/// All completed runs by board, those with the newest runs first.
async fn grouped(app: &App) -> Result<(Vec<Group>, ExcludedRuns), ServiceError> {
    let runs = app.store.completed_runs().await?;
    let mut excluded = ExcludedRuns::default();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for chunk in runs.chunks(CONFIGS) {
        for (run, key) in chunk.iter().zip(keys(app, chunk).await?) {
            let Some(key) = key else {
                excluded.unreadable += 1;
                continue;
            };
            for why in &key.excluded {
                match why {
                    NotFresh::Branch => excluded.branches += 1,
                    NotFresh::Continued => excluded.continued += 1,
                    NotFresh::WithMemory => excluded.with_memory += 1,
                }
            }
            if key.agents.is_empty() {
                continue;
            }
            let at = *places.entry(key.board.board_id.clone()).or_insert_with(|| {
                groups.push(Group { board: key.board.clone(), runs: Vec::new() });
                groups.len() - 1
            });
            add(&mut groups[at], run, &key);
        }
    }
    for Group { board, runs } in &mut groups {
        board.runs = runs.len();
        board.configurations =
            runs.iter().map(|run| run.configuration.as_str()).collect::<BTreeSet<_>>().len();
        board.models.sort_unstable();
    }
    Ok((groups, excluded))
}

fn add(group: &mut Group, run: &CompletedRun, key: &RunKey) {
    group.board.newest_run.get_or_insert(run.created_at);
    for of in &key.agents {
        for model in &of.models {
            if !group.board.models.contains(model) {
                group.board.models.push(model.clone());
            }
        }
        group.runs.push(GroupedRun {
            job: run.job.clone(),
            epoch: run.epoch,
            created_at: run.created_at,
            agent: of.agent.clone(),
            configuration: of.configuration.clone(),
            is_deterministic: of.is_deterministic,
        });
    }
}

/// Where these runs belong, in their order; `None` for a config that cannot be read.
async fn keys(app: &App, runs: &[CompletedRun]) -> Result<Vec<Option<Arc<RunKey>>>, ServiceError> {
    let known = |run: &CompletedRun| app.boards.get(&(run.job.clone(), run.created_at));
    let mut found: Vec<Option<Option<Arc<RunKey>>>> = runs.iter().map(known).collect();
    let missing: Vec<JobId> = runs
        .iter()
        .zip(&found)
        .filter(|(_, known)| known.is_none())
        .map(|(run, _)| run.job.clone())
        .collect();
    if !missing.is_empty() {
        let mut configs = app.store.job_configs(&missing).await?;
        for (run, place) in runs.iter().zip(&mut found).filter(|(_, known)| known.is_none()) {
            let config = configs.remove(&run.job).and_then(|config| serde_json::from_value(config).ok());
            let key = config.and_then(|config: SimulationConfig| {
                let real = |date| masked::real_date(Some(&config), date);
                run_key(&config, run.first, (real(run.first), real(run.last)))
            });
            let key = key.map(Arc::new);
            app.boards.insert((run.job.clone(), run.created_at), key.clone());
            *place = Some(key);
        }
    }
    Ok(found.into_iter().map(Option::flatten).collect())
}

/// The runs of a board that are evaluated.
struct Selection {
    /// By job, newest first.
    jobs: Vec<(JobId, BTreeSet<AgentName>)>,
    runs: usize,
    /// Runs of selected configurations that are not, by configuration.
    omitted: BTreeMap<String, usize>,
    omitted_configurations: usize,
    /// All that a board's entries depend on, unless a job belongs to an experiment.
    inputs: ContentHash,
}

impl Selection {
    /// The configurations with the newest runs, and of each its newest runs. It never depends on results.
    fn of(group: &Group) -> Self {
        let mut trials: BTreeMap<&str, usize> = BTreeMap::new();
        let mut beyond: BTreeSet<&str> = BTreeSet::new();
        let mut found = Self {
            jobs: Vec::new(),
            runs: 0,
            omitted: BTreeMap::new(),
            omitted_configurations: 0,
            inputs: ContentHash::of(&[]),
        };
        let mut inputs = Vec::new();
        for run in &group.runs {
            let of = run.configuration.as_str();
            if !trials.contains_key(of) && trials.len() >= MAX_CONFIGURATIONS {
                beyond.insert(of);
                continue;
            }
            let count = trials.entry(of).or_default();
            // Another run of rules would be the same.
            let max = if run.is_deterministic { 1 } else { MAX_TRIALS };
            if *count >= max {
                *found.omitted.entry(of.to_owned()).or_default() += 1;
                continue;
            }
            *count += 1;
            found.runs += 1;
            inputs.push(json!([run.job, run.epoch, run.created_at.to_string(), run.agent]));
            match found.jobs.last_mut().filter(|(job, _)| *job == run.job) {
                Some((_, agents)) => {
                    agents.insert(run.agent.clone());
                }
                None => found.jobs.push((run.job.clone(), BTreeSet::from([run.agent.clone()]))),
            }
        }
        found.omitted_configurations = beyond.len();
        found.inputs = json::hash(&json!([group.board.board_id, inputs, found.omitted]));
        found
    }
}

async fn evaluated(app: &App, board: Board, selection: Selection) -> Result<Board, ServiceError> {
    if let Some(known) = app.boards.ranked(&selection.inputs) {
        // Runs beyond the selected ones may be new.
        return Ok(Board {
            ranked: known.ranked,
            tests: known.tests,
            notes: known.notes.clone(),
            entries: known.entries.clone(),
            omitted_configurations: selection.omitted_configurations,
            ..board
        });
    }
    let (runs, baseline) = Box::pin(load_board(app, &selection.jobs)).await?;
    let omitted = selection.omitted;
    // For many entries over long runs, this is CPU work.
    let found = tokio::task::spawn_blocking(move || evaluate(runs, baseline, &omitted)).await;
    let EvaluatedBoard { entries, ranked, tests, notes } = found.map_err(anyhow::Error::from)?;
    // Other jobs of an experiment decide whether it is interim, and a dataset can be imported again.
    let is_final = entries.iter().all(|entry| entry.experiment_ids.is_empty())
        && entries.iter().any(|entry| entry.kind == "baseline");
    let board = Board {
        ranked,
        tests,
        notes,
        omitted_configurations: selection.omitted_configurations,
        entries: Some(entries),
        ..board
    };
    if is_final {
        app.boards.insert_ranked(selection.inputs, Arc::new(board.clone()));
    }
    Ok(board)
}

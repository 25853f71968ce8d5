//! Verifies bundles, and takes the runs of those that are intact.

use super::{SiteBundle, SiteJob};
use crate::bundle::document::JobDocument;
use crate::bundle::{Bundle, BundleReport, verify};
use crate::view::{
    BoardBaseline, BoardRun, ComparisonInput, EvaluatedBoard, RunRecord, evaluate, starts_fresh,
};
use anyhow::{Context as _, bail};
use papertape_core::id::{AgentName, JobId};
use papertape_core::record::JobStatus;
use papertape_protocol::leaderboard::Board;
use papertape_protocol::results::range::RangeResult;
use papertape_runtime::config::SimulationConfig;
use sha2::{Digest as _, Sha256};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// The maximum number of bundle files of a site.
const MAX_BUNDLES: usize = 10_000;

/// What the bundles contain.
#[derive(Default)]
pub(super) struct Collected {
    pub(super) bundles: Vec<SiteBundle>,
    pub(super) boards: CollectedBoards,
}

/// Runs and baselines by board.
#[derive(Default)]
pub(super) struct CollectedBoards(BTreeMap<String, (Board, Vec<BoardRun>, Option<BoardBaseline>)>);

/// The bundle files of a directory, by name.
pub(super) fn files(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let cannot = || format!("cannot read {}", dir.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.extension().is_some_and(|extension| extension == "zip") && path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() {
        bail!("there is no bundle (*.zip) in {}; write one with `papertape bundle JOB`", dir.display());
    }
    if files.len() > MAX_BUNDLES {
        bail!("{} bundles are more than {MAX_BUNDLES}", files.len());
    }
    files.sort();
    Ok(files)
}

/// Verifies a bundle and adds its runs.
pub(super) fn bundle(path: &Path, found: &mut Collected) -> anyhow::Result<SiteBundle> {
    let shown = || path.display().to_string();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut file = File::open(path).with_context(shown)?;
    let (bytes, sha256) = sha256(&mut file).with_context(shown)?;
    file.rewind().with_context(shown)?;
    let mut of = SiteBundle { file: name, bytes, sha256, ..SiteBundle::default() };
    match verify(BufReader::new(file), None) {
        Ok(report) => {
            of.bundle = report.bundle.map(|hash| hash.to_hex());
            of.is_included = report.whole;
            describe(&mut of, &report);
        }
        Err(error) => of.reasons.push(error.to_string()),
    }
    if of.is_included {
        let file = File::open(path).with_context(shown)?;
        if let Err(why) = runs(file, &mut of, &mut found.boards) {
            of.is_included = false;
            of.reasons.push(why);
        }
    }
    Ok(of)
}

fn describe(of: &mut SiteBundle, report: &BundleReport) {
    for part in report.parts.iter().filter(|part| !part.ok) {
        of.reasons.extend(part.reasons.iter().map(|reason| format!("{}: {reason}", part.name)));
    }
    let job = |job: &crate::bundle::ReportedJob| SiteJob {
        job_id: job.job_id.clone(),
        head: job.head.to_hex(),
        report: None,
    };
    of.jobs = report.jobs.iter().map(job).collect();
}

fn sha256(file: &mut File) -> std::io::Result<(u64, String)> {
    let (mut hasher, mut bytes) = (Sha256::new(), 0);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
        bytes += read as u64;
    }
    let hex = hasher.finalize().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    Ok((bytes, hex))
}

/// A job of a bundle.
struct JobParts {
    status: JobStatus,
    config: SimulationConfig,
    results: Vec<RangeResult>,
}

/// Adds the completed runs of a bundle that verified.
fn runs(file: File, of: &mut SiteBundle, boards: &mut CollectedBoards) -> Result<(), String> {
    let mut bundle = Bundle::open(BufReader::new(file)).map_err(|error| error.to_string())?;
    let manifest = bundle.manifest().clone();
    if !bundle.has("comparison-input.json") {
        return Err("it has no comparison, so it says nothing about comparable runs".to_owned());
    }
    let mut jobs: BTreeMap<JobId, JobParts> = BTreeMap::new();
    for listed in &manifest.jobs {
        let part = |name: &str| format!("{}/{name}", listed.folder);
        let job: JobDocument = bundle.document(&part("job.json"))?;
        let config: SimulationConfig = bundle.document(&part("config.json"))?;
        let results: Vec<RangeResult> = bundle.document(&part("metrics.json"))?;
        jobs.insert(job.job_id, JobParts { status: job.status, config, results });
    }
    let input: ComparisonInput = bundle.document("comparison-input.json")?;
    let reasons = std::cell::RefCell::new(Vec::new());
    let record = |job: &JobId, agent: &AgentName| {
        let parts = jobs.get(job)?;
        let result = parts.results.iter().find(|result| result.model == agent.as_str())?;
        match why_not(parts, agent, result) {
            Some(why) => {
                reasons.borrow_mut().push(format!("{agent} of job {job} is on no board: {why}"));
                None
            }
            None => Some(RunRecord::of(result, &parts.config)),
        }
    };
    let (runs, baselines) = input.into_runs(record);
    of.reasons.extend(reasons.into_inner());
    for run in runs {
        let Some(board) = run.board() else { continue };
        let (_, runs, _) =
            boards.0.entry(board.board_id.clone()).or_insert_with(|| (board, Vec::new(), None));
        // A job can be in several bundles, such as its own and that of its experiment.
        if !runs.iter().any(|known| known.job() == run.job() && known.agent() == run.agent()) {
            runs.push(run);
        }
    }
    for baseline in baselines {
        let board = baseline.board().and_then(|board| boards.0.get_mut(&board.board_id));
        if let Some((_, _, place)) = board {
            place.get_or_insert(baseline);
        }
    }
    Ok(())
}

/// Why a run is on no board.
fn why_not(parts: &JobParts, agent: &AgentName, result: &RangeResult) -> Option<String> {
    if parts.status != JobStatus::Completed {
        return Some(format!("its status is {}", parts.status));
    }
    // Of an earlier job that completed its first days, the bundle has only the account.
    let is_own = result.done_before.is_empty()
        || result.starting_portfolio_value.decimal() == parts.config.initial_cash.0;
    let is_fresh = is_own && starts_fresh(&parts.config, agent, result.start_date);
    (!is_fresh)
        .then(|| "it does not start fresh: it shares days, money or memory with another run".to_owned())
}

impl CollectedBoards {
    /// All boards with their entries, by dataset and days.
    pub(super) fn evaluated(self) -> Vec<Board> {
        let evaluated = |(mut board, mut runs, baseline): (Board, Vec<BoardRun>, Option<BoardBaseline>)| {
            // Job IDs are in the order of their requests.
            runs.sort_by(|a, b| Reverse(a.job()).cmp(&Reverse(b.job())).then(a.agent().cmp(&b.agent())));
            board.runs = runs.len();
            let mut configurations: Vec<&str> = runs.iter().map(BoardRun::configuration).collect();
            configurations.sort_unstable();
            configurations.dedup();
            board.configurations = configurations.len();
            board.models = runs.iter().flat_map(BoardRun::models).collect();
            board.models.sort_unstable();
            board.models.dedup();
            let EvaluatedBoard { entries, ranked, tests, notes } = evaluate(runs, baseline, &BTreeMap::new());
            Board { ranked, tests, notes, entries: Some(entries), ..board }
        };
        let mut boards: Vec<Board> = self.0.into_values().map(evaluated).collect();
        boards.sort_by(|a, b| {
            let key = |board: &Board| (board.dataset.clone(), board.end_date, board.start_date);
            key(a).cmp(&key(b)).then(a.board_id.cmp(&b.board_id))
        });
        boards
    }
}

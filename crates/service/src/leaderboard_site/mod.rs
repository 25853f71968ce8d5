//! A static site of leaderboards over evidence bundles that verify: no database, no network, no scripts.
//!
//! `read` verifies the bundles and takes their runs, `boards` and `index` render, `write` puts the site in its place.

mod boards;
mod index;
mod marks;
mod read;
mod write;

use crate::bundle::Bundle;
use crate::report::bundled_report;
use crate::report::words::Words;
use anyhow::Context as _;
use papertape_core::language::Language;
use papertape_evidence::METHOD_VERSION;
use papertape_protocol::leaderboard::Board;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use write::SiteWriter;

/// The `format` of `leaderboard.json`.
pub const SITE_FORMAT: &str = "papertape.leaderboard.v1";

/// `leaderboard.json`: everything that the pages show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Site {
    /// [`SITE_FORMAT`].
    pub format: &'static str,
    /// The version of the program.
    pub program_version: &'static str,
    /// The version of the method.
    pub method_version: u32,
    /// Every bundle file of the directory, by name.
    pub bundles: Vec<SiteBundle>,
    /// The boards.
    pub boards: Vec<Board>,
}

/// A bundle file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SiteBundle {
    /// The file's name.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: String,
    /// The hash of the bundle, as `papertape verify` prints it.
    pub bundle: Option<String>,
    /// Whether its runs are on the boards.
    pub is_included: bool,
    /// Why it, or one of its runs, is not.
    pub reasons: Vec<String>,
    /// Its jobs.
    pub jobs: Vec<SiteJob>,
}

/// A job of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteJob {
    /// The job.
    pub job_id: String,
    /// The hash of its head.
    pub head: String,
    /// The page with its report.
    pub report: Option<String>,
}

impl Site {
    /// Whether every bundle is included.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.bundles.iter().all(|bundle| bundle.is_included)
    }

    /// The page of a job's report.
    fn report_of(&self, job: &str) -> Option<&str> {
        let mut jobs = self.bundles.iter().flat_map(|bundle| &bundle.jobs);
        jobs.find(|one| one.job_id == job && one.report.is_some())?.report.as_deref()
    }
}

/// Builds the site of the bundles in a directory. The site appears under its name once it is complete.
///
/// # Errors
/// No bundle file; `out` exists and is not a site to replace; a file that cannot be read or written. A bundle that does
/// not verify is not an error: the site names it.
pub fn build_site(dir: &Path, out: &Path, language: Language, replace: bool) -> anyhow::Result<Site> {
    let words = Words(language);
    let files = read::files(dir)?;
    let site = SiteWriter::create(out, replace)?;
    let mut found = read::Collected::default();
    let mut written: BTreeSet<String> = BTreeSet::new();
    for path in &files {
        let mut bundle = read::bundle(path, &mut found)?;
        if bundle.is_included {
            reports(path, &mut bundle, language, &mut written, &site)?;
        }
        found.bundles.push(bundle);
    }
    let read::Collected { bundles, boards } = found;
    let whole = Site {
        format: SITE_FORMAT,
        program_version: env!("CARGO_PKG_VERSION"),
        method_version: METHOD_VERSION,
        bundles,
        boards: boards.evaluated(),
    };
    for board in &whole.boards {
        site.write(&boards::file_name(board), &boards::page(words, &whole, board))?;
    }
    site.write("index.html", &index::page(words, &whole))?;
    let mut json = serde_json::to_string_pretty(&whole)?;
    json.push('\n');
    site.write("leaderboard.json", &json)?;
    site.finish()?;
    Ok(whole)
}

/// Writes the report of each job that has none yet.
fn reports(
    path: &Path,
    of: &mut SiteBundle,
    language: Language,
    written: &mut BTreeSet<String>,
    site: &SiteWriter,
) -> anyhow::Result<()> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut bundle = Bundle::open(BufReader::new(file)).with_context(|| path.display().to_string())?;
    let listed: BTreeMap<String, _> =
        bundle.manifest().jobs.iter().map(|job| (job.job_id.clone(), job.clone())).collect();
    for job in &mut of.jobs {
        let name = format!("run-{}.html", write::plain_name(&job.job_id));
        if written.contains(&name) {
            job.report = Some(name);
            continue;
        }
        let Some(listed) = listed.get(&job.job_id) else { continue };
        let report = bundled_report(&mut bundle, listed, language)
            .map_err(|why| anyhow::anyhow!("{}: job {}: {why}", path.display(), job.job_id))?;
        if let Some(page) = report {
            site.write(&name, &page)?;
            written.insert(name.clone());
            job.report = Some(name);
        }
    }
    Ok(())
}

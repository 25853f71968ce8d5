//! Verifies a bundle: every byte by its hash, the books from the fills, the metrics from the books, the comparison from
//! its inputs, and the hash chains from the tape. No database, no network, no configuration.

mod books;
mod comparison;
mod difference;
mod heads;
mod job;
mod metrics;
mod tape;

use super::archive::{ArchiveError, Damage, MANIFEST};
use super::document::{About, ExperimentDocument, Manifest, TapeForm, folder};
use super::facts::{is_interim, limitations};
use super::read::Bundle;
use super::report::{BundleReport, NOT_VERIFIED, PartCheck, PartReport, ReportedJob};
use crate::view::ComparisonInput;
use comparison::ComparedJob;
use job::VerifiedJob;
use papertape_core::id::{ContentHash, JobId};
use papertape_core::json;
use papertape_core::record::JobHead;
use papertape_protocol::compare::CompareResponse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek};

const EXPERIMENT: &str = "experiment.json";
const COMPARISON: &str = "comparison.json";
const COMPARISON_INPUT: &str = "comparison-input.json";

/// Verifies a bundle. `published`: also require that the record of its job extends this head.
///
/// # Errors
/// A file that is not a bundle, or has another version. A damaged bundle is not an error but a report that names the
/// damaged parts.
pub fn verify(source: impl Read + Seek, published: Option<&JobHead>) -> Result<BundleReport, ArchiveError> {
    let mut bundle = match Bundle::open(source) {
        Ok(bundle) => bundle,
        Err(ArchiveError::Damaged(damage)) => return Ok(unreadable(damage)),
        Err(error) => return Err(error),
    };
    let damages = bundle.check_bytes()?;
    let mut failures = Failures::default();
    let mut links = BTreeMap::new();
    let is_damaged = !damages.is_empty();
    for Damage { part, why } in damages {
        failures.add(&part, why);
    }
    if !is_damaged {
        links = contents(&mut bundle, published, &mut failures);
    }
    Ok(report(&bundle, failures, &links, is_damaged))
}

/// What is wrong, by part.
#[derive(Debug, Default)]
struct Failures(BTreeMap<String, Vec<String>>);

impl Failures {
    fn add(&mut self, part: &str, why: impl Into<String>) {
        self.0.entry(part.to_owned()).or_default().push(why.into());
    }

    /// The value, or a failure of the part.
    fn take<T>(&mut self, part: &str, result: Result<T, String>) -> Option<T> {
        result.map_err(|why| self.add(part, why)).ok()
    }
}

/// Checks what the parts state; returns the links of each job's tape, and how many of them are stated.
fn contents<R: Read + Seek>(
    bundle: &mut Bundle<R>,
    published: Option<&JobHead>,
    failures: &mut Failures,
) -> BTreeMap<String, (u64, u64)> {
    let manifest = bundle.manifest().clone();
    names(bundle, &manifest, failures);
    let mut jobs: Vec<VerifiedJob> = Vec::new();
    for one in &manifest.jobs {
        let published = published.filter(|head| head.job.as_str() == one.job_id);
        jobs.extend(job::verify(bundle, (one, manifest.tape), published, failures));
    }
    if let Some(head) =
        published.filter(|head| manifest.jobs.iter().all(|job| job.job_id != head.job.as_str()))
    {
        failures.add(
            MANIFEST,
            format!("the published head belongs to job {}, which is not in the bundle", head.job),
        );
    }
    experiment(bundle, &manifest, failures);
    // What failed would only be reported again.
    if jobs.len() == manifest.jobs.len() && failures.0.is_empty() {
        let compared = compared(bundle, &jobs, failures);
        let of_comparison = match &compared {
            Some(response) => Ok(is_interim(response)),
            None => Err(no_comparison(&manifest)),
        };
        let facts: Vec<_> = jobs.iter().map(|job| job.facts.clone()).collect();
        if failures.0.is_empty() && limitations(&facts, manifest.tape, of_comparison) != manifest.limitations
        {
            failures.add(MANIFEST, "its limitations are not those that follow from the parts");
        }
    }
    jobs.into_iter().filter_map(|job| Some((job.facts.job.job_id.to_string(), job.links?))).collect()
}

/// Every part that must be there is there, and no other.
fn names<R: Read + Seek>(bundle: &Bundle<R>, manifest: &Manifest, failures: &mut Failures) {
    let mut required = BTreeSet::new();
    for one in &manifest.jobs {
        if one.folder != folder(&JobId::new(one.job_id.as_str())) {
            failures.add(MANIFEST, format!("the folder of job {} is not its own", one.job_id));
        }
        let of_tape: &[&str] = match manifest.tape {
            TapeForm::None => &[],
            TapeForm::Redacted => &["tape.jsonl"],
            TapeForm::Full => &["tape.jsonl", "texts.jsonl"],
        };
        let all = job::PARTS.iter().chain(of_tape);
        required.extend(all.map(|name| format!("{}/{name}", one.folder)));
    }
    let ids: BTreeSet<&str> = manifest.jobs.iter().map(|job| job.job_id.as_str()).collect();
    if ids.is_empty() || ids.len() != manifest.jobs.len() {
        failures.add(MANIFEST, "it lists no job, or a job twice");
    }
    match &manifest.about {
        About::Job(id) => {
            if ids != BTreeSet::from([id.as_str()]) {
                failures.add(MANIFEST, "its job is not the one that it is about");
            }
        }
        About::Experiment(_) => drop(required.insert(EXPERIMENT.to_owned())),
    }
    if bundle.has(COMPARISON) || bundle.has(COMPARISON_INPUT) {
        required.extend([COMPARISON.to_owned(), COMPARISON_INPUT.to_owned()]);
    }
    let present: BTreeSet<String> = bundle.parts().iter().map(|part| part.name.clone()).collect();
    for name in required.difference(&present) {
        failures.add(name, "it is missing");
    }
    for name in present.difference(&required) {
        failures.add(name, "this version of the format has no such part");
    }
}

fn experiment<R: Read + Seek>(bundle: &mut Bundle<R>, manifest: &Manifest, failures: &mut Failures) {
    let About::Experiment(id) = &manifest.about else { return };
    let Some(document) = failures.take(EXPERIMENT, bundle.document::<ExperimentDocument>(EXPERIMENT)) else {
        return;
    };
    let jobs: BTreeSet<&str> = document.jobs.iter().map(|job| job.job_id.as_str()).collect();
    let listed: BTreeSet<&str> = manifest.jobs.iter().map(|job| job.job_id.as_str()).collect();
    if document.experiment_id != *id || jobs != listed {
        failures.add(EXPERIMENT, "its jobs are not those of the manifest");
    }
    if !document.is_redacted && json::hash(&document.manifest) != document.manifest_hash {
        failures.add(EXPERIMENT, "its hash is not that of its plan");
    }
    if document.is_redacted && manifest.tape != TapeForm::Redacted {
        failures.add(EXPERIMENT, "its plan is redacted, and the bundle is not");
    }
}

fn compared<R: Read + Seek>(
    bundle: &mut Bundle<R>,
    jobs: &[VerifiedJob],
    failures: &mut Failures,
) -> Option<CompareResponse> {
    if !bundle.has(COMPARISON) {
        return None;
    }
    let of = |job: &VerifiedJob| job.facts.job.job_id.clone();
    let by_id: BTreeMap<JobId, ComparedJob<'_>> = jobs.iter().map(|job| (of(job), job.compared())).collect();
    let input = failures.take(COMPARISON_INPUT, bundle.document::<ComparisonInput>(COMPARISON_INPUT))?;
    let response = failures.take(COMPARISON, bundle.document::<CompareResponse>(COMPARISON))?;
    failures.take(COMPARISON_INPUT, comparison::check_input(&input, &by_id))?;
    failures.take(COMPARISON, comparison::check(&input, &response))?;
    Some(response)
}

/// The stated reason why there is no comparison.
fn no_comparison(manifest: &Manifest) -> &str {
    let stated = manifest.limitations.iter().find_map(|text| text.strip_prefix("There is no comparison: "));
    stated.and_then(|why| why.strip_suffix('.')).unwrap_or("it was left out")
}

fn report<R: Read + Seek>(
    bundle: &Bundle<R>,
    failures: Failures,
    links: &BTreeMap<String, (u64, u64)>,
    is_damaged: bool,
) -> BundleReport {
    let manifest = bundle.manifest();
    let Failures(mut reasons) = failures;
    let whole = reasons.is_empty();
    let mut parts = Vec::new();
    for name in [MANIFEST].into_iter().chain(bundle.parts().iter().map(|part| part.name.as_str())) {
        let reasons = reasons.remove(name).unwrap_or_default();
        let check = if is_damaged { PartCheck::Hashed } else { PartCheck::of(name) };
        parts.push(PartReport { name: name.to_owned(), ok: reasons.is_empty(), check, reasons });
    }
    // The directory, the trailer, and parts that are missing.
    parts.extend(reasons.into_iter().map(|(name, reasons)| PartReport {
        name,
        ok: false,
        check: PartCheck::Hashed,
        reasons,
    }));
    let job = |job: &super::document::BundledJob| ReportedJob {
        job_id: job.job_id.clone(),
        head: job.head,
        links: links.get(&job.job_id).copied(),
    };
    BundleReport {
        whole,
        bundle: (!is_damaged).then(|| bundle.hash()),
        program_version: Some(manifest.program_version.clone()),
        about: Some(manifest.about.clone()),
        tape: Some(manifest.tape),
        jobs: manifest.jobs.iter().map(job).collect(),
        parts,
        limitations: manifest.limitations.clone(),
        not_verified: NOT_VERIFIED.map(str::to_owned).to_vec(),
    }
}

/// Of a bundle whose manifest cannot be read.
fn unreadable(Damage { part, why }: Damage) -> BundleReport {
    BundleReport {
        whole: false,
        bundle: None::<ContentHash>,
        program_version: None,
        about: None,
        tape: None,
        jobs: Vec::new(),
        parts: vec![PartReport { name: part, ok: false, check: PartCheck::Hashed, reasons: vec![why] }],
        limitations: Vec::new(),
        not_verified: NOT_VERIFIED.map(str::to_owned).to_vec(),
    }
}

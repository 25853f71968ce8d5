//! Bundles in memory: written, taken apart, forged, and verified.

use crate::api_support::World;
use papertape_core::id::{ContentHash, ExperimentId, JobId};
use papertape_protocol::bundle::TapeForm;
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::bundle::archive::{ArchiveWriter, PartEntry};
use papertape_service::bundle::{BundleOptions, BundleReport, BundleTarget, collect, verify};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Cursor, Read as _, Write as _};

/// The bundle of a job, without an audit.
pub(crate) async fn bundle_of(world: &World, job: &str, tape: TapeForm) -> Vec<u8> {
    let target = BundleTarget::Job(JobId::new(job));
    succeeded(written(&world.app, &target, BundleOptions { tape, audit: false }).await)
}

/// The bundle of an experiment, without an audit.
pub(crate) async fn bundle_of_experiment(world: &World, id: &str, tape: TapeForm) -> Vec<u8> {
    let target = BundleTarget::Experiment(ExperimentId::new(id));
    succeeded(written(&world.app, &target, BundleOptions { tape, audit: false }).await)
}

pub(crate) async fn written(
    app: &App,
    target: &BundleTarget,
    options: BundleOptions,
) -> Result<Vec<u8>, ServiceError> {
    let dir = tempfile::tempdir().expect("a directory");
    let mut archive = collect(app, target, options, dir.path(), &|_, _| {}).await?;
    let mut bytes = Vec::new();
    archive.write_to(&mut bytes).expect("writes");
    assert_eq!(bytes.len() as u64, archive.bytes());
    Ok(bytes)
}

#[track_caller]
pub(crate) fn succeeded<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// The report of a file that can be read as a bundle.
#[track_caller]
pub(crate) fn verified(bytes: &[u8]) -> BundleReport {
    succeeded(verify(Cursor::new(bytes), None))
}

/// The names of the parts that failed, with their reasons.
pub(crate) fn failed(report: &BundleReport) -> BTreeMap<String, String> {
    let failed = report.parts.iter().filter(|part| !part.ok);
    failed.map(|part| (part.name.clone(), part.reasons.join("; "))).collect()
}

/// A bundle that verifies.
#[track_caller]
pub(crate) fn assert_whole(bytes: &[u8]) -> BundleReport {
    let report = verified(bytes);
    assert_eq!(failed(&report), BTreeMap::new());
    assert!(report.whole);
    report
}

/// A bundle in parts, as another zip program reads them, to be changed and written again with correct hashes.
#[derive(Clone)]
pub(crate) struct Forgery {
    pub(crate) manifest: Value,
    pub(crate) parts: Vec<(String, String)>,
}

impl Forgery {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).expect("a zip archive");
        let mut parts = Vec::new();
        for at in 0..archive.len() {
            let mut file = archive.by_index(at).expect("an entry");
            let mut text = String::new();
            file.read_to_string(&mut text).expect("text");
            parts.push((file.name().expect("a name").into_owned(), text));
        }
        let (name, manifest) = parts.remove(0);
        assert_eq!(name, "manifest.json");
        Self { manifest: serde_json::from_str(&manifest).expect("JSON"), parts }
    }

    /// The name of the part with this ending.
    #[track_caller]
    pub(crate) fn name(&self, end: &str) -> String {
        let found = self.parts.iter().find(|(name, _)| name.ends_with(end));
        found.unwrap_or_else(|| panic!("no part {end}")).0.clone()
    }

    #[track_caller]
    pub(crate) fn text(&self, end: &str) -> &str {
        let name = self.name(end);
        self.parts.iter().find(|(own, _)| *own == name).map(|(_, text)| text.as_str()).expect("a part")
    }

    /// Changes the text of a part.
    #[track_caller]
    pub(crate) fn edit(mut self, end: &str, edit: impl FnOnce(&str) -> String) -> Self {
        let name = self.name(end);
        let part = self.parts.iter_mut().find(|(own, _)| *own == name).expect("a part");
        let edited = edit(&part.1);
        assert_ne!(edited, part.1, "{end}: nothing was edited");
        part.1 = edited;
        self
    }

    /// Changes a part that is one document.
    #[track_caller]
    pub(crate) fn edit_json(self, end: &str, edit: impl FnOnce(&mut Value)) -> Self {
        self.edit(end, |text| {
            let mut document: Value = serde_json::from_str(text).expect("JSON");
            edit(&mut document);
            document.to_string()
        })
    }

    /// Changes the lines of a part.
    #[track_caller]
    pub(crate) fn edit_lines(self, end: &str, mut edit: impl FnMut(&mut Value)) -> Self {
        self.edit(end, |text| {
            let line = |line: &str| {
                let mut value: Value = serde_json::from_str(line).expect("JSON");
                edit(&mut value);
                format!("{value}\n")
            };
            text.lines().map(line).collect()
        })
    }

    /// The file, with the hashes of the changed parts.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let dir = tempfile::tempdir().expect("a directory");
        let mut archive = ArchiveWriter::new(dir.path()).expect("a file");
        for (name, text) in &self.parts {
            let write = |out: &mut dyn std::io::Write| Ok(out.write_all(text.as_bytes())?);
            archive.part(name.as_str(), "application/json", write).expect("writes");
        }
        let manifest = |parts: &[PartEntry]| {
            let mut manifest = self.manifest.clone();
            manifest["parts"] = serde_json::to_value(parts)?;
            Ok(serde_json::to_vec_pretty(&manifest)?)
        };
        let mut bytes = Vec::new();
        archive.finish(manifest).expect("an archive").write_to(&mut bytes).expect("writes");
        bytes
    }
}

/// A file whose manifest and trailer are as given, and whose hashes are right: what a stranger can write.
pub(crate) fn stored_zip(manifest: &[u8], version: &str) -> Vec<u8> {
    let mut file = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    file.start_file("manifest.json", options).expect("begins");
    file.write_all(manifest).expect("writes");
    let placeholder = " ".repeat(236);
    file.set_raw_comment(placeholder.clone().into_bytes().into_boxed_slice()).expect("short enough");
    let mut bytes = file.finish().expect("ends").into_inner();
    let body = bytes.len() - placeholder.len();
    bytes.truncate(body);
    let head = format!(
        "papertape.bundle.v{version} manifest={} file={} trailer=",
        ContentHash::of(manifest),
        ContentHash::of(&bytes)
    );
    let hash = ContentHash::of(head.as_bytes());
    bytes.extend(format!("{head}{hash}").into_bytes());
    bytes
}

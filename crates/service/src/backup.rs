//! A copy of everything irreplaceable: the database and the datasets, in a directory with a manifest that
//! names every file with its hash. Whatever can be recreated (a sentence model, the portable files of plans)
//! is left out.

use crate::app::{App, database_file, make_data_dir};
use crate::config::{Config, Mode};
use anyhow::{Context as _, Result, anyhow, bail};
use papertape_core::time::Timestamp;
use papertape_market::Catalogue;
use papertape_store::Store;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};

/// The format of the directory.
const FORMAT: &str = "papertape.backup.v1";
const MANIFEST: &str = "manifest.json";
const DATABASE: &str = "papertape.db";
const DATASETS: &str = "datasets";

/// The content of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    format: String,
    /// The version of the program that wrote it.
    pub version: String,
    /// The mode whose data it contains.
    pub mode: Mode,
    /// When the database was copied.
    pub created_at: Timestamp,
    /// Every file, by its path.
    pub files: Vec<BackupFile>,
}

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupFile {
    /// The path within the directory, with `/`.
    pub path: String,
    /// The size.
    pub bytes: u64,
    /// The BLAKE3 hash of its bytes.
    pub blake3: String,
}

impl Manifest {
    /// The total size of all files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// The number of datasets.
    #[must_use]
    pub fn datasets(&self) -> usize {
        self.files
            .iter()
            .filter(|file| file.path.starts_with("datasets/content/") && file.path.ends_with("/data"))
            .count()
    }
}

/// Copies a SQLite database, as of this instant, and its datasets into a new directory, and checks the copy.
/// Other processes may read and write meanwhile.
///
/// # Errors
/// A directory that is not empty; a PostgreSQL database; a file that cannot be read or written; a damaged copy.
pub async fn back_up(app: &App, dir: &Path, now: Timestamp) -> Result<Manifest> {
    if fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some()) {
        bail!("{} is not empty; name a new directory", dir.display());
    }
    make_data_dir(dir)?;
    let database = dir.join(DATABASE);
    app.store.backup(&database).await?;
    check_database(&database)?;
    let from = app.config.datasets_dir();
    let mut paths = vec![PathBuf::from(DATABASE)];
    for path in files_below(&from)? {
        let to = dir.join(DATASETS).join(&path);
        copy(&from.join(&path), &to)?;
        paths.push(Path::new(DATASETS).join(path));
    }
    check_datasets(&dir.join(DATASETS))?;
    let files = paths.iter().map(|path| describe(dir, path)).collect::<Result<_>>()?;
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        mode: app.config.mode,
        created_at: now,
        files,
    };
    // Last, so that a directory with a manifest is complete.
    let file = dir.join(MANIFEST);
    fs::write(&file, serde_json::to_vec_pretty(&manifest)?).with_context(|| file.display().to_string())?;
    sync(&file)?;
    Ok(manifest)
}

/// Checks a backup and restores it into the data directory, which must not contain a database.
///
/// # Errors
/// An incomplete or damaged backup; a data directory that contains a database, or other data of the same name.
pub fn restore(config: &Config, dir: &Path) -> Result<Manifest> {
    let manifest = read_manifest(dir)?;
    if manifest.mode != config.mode {
        bail!("the backup is of mode {}, not {}", manifest.mode.as_str(), config.mode.as_str());
    }
    for file in &manifest.files {
        let found = describe(dir, Path::new(&file.path))?;
        if found != *file {
            bail!(
                "{} is damaged: its size or hash is not the one in {MANIFEST}",
                dir.join(&file.path).display()
            );
        }
    }
    let database = database_file(&config.data_dir, config.mode);
    if database.exists() {
        bail!("{} exists; move it away, or restore into another --data-dir", database.display());
    }
    let datasets = config.datasets_dir();
    let of_dataset = |file: &BackupFile| Some(PathBuf::from(file.path.strip_prefix("datasets/")?));
    let paths: Vec<PathBuf> = manifest.files.iter().filter_map(of_dataset).collect();
    for path in &paths {
        let (from, to) = (dir.join(DATASETS).join(path), datasets.join(path));
        if to.exists() && hash(&from)? != hash(&to)? {
            bail!(
                "{} exists and is a different file; move it away, or restore into another --data-dir",
                to.display()
            );
        }
    }
    make_data_dir(&config.data_dir)?;
    for path in &paths {
        copy(&dir.join(DATASETS).join(path), &datasets.join(path))?;
    }
    // Renamed once it is complete: a database that exists is usable.
    let unfinished = database.with_extension("db.restoring");
    copy(&dir.join(DATABASE), &unfinished)?;
    check_database(&unfinished)?;
    fs::rename(&unfinished, &database).with_context(|| database.display().to_string())?;
    sync(&config.data_dir)?;
    Ok(manifest)
}

fn read_manifest(dir: &Path) -> Result<Manifest> {
    let file = dir.join(MANIFEST);
    let text = fs::read_to_string(&file)
        .map_err(|error| anyhow!("{} is not a backup: {}: {error}", dir.display(), file.display()))?;
    let manifest: Manifest =
        serde_json::from_str(&text).with_context(|| format!("cannot read {}", file.display()))?;
    if manifest.format != FORMAT {
        bail!("{} has the format `{}`; this program reads `{FORMAT}`", file.display(), manifest.format);
    }
    let is_plain = |path: &str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if let Some(file) = manifest.files.iter().find(|file| !is_plain(&file.path)) {
        bail!("the backup's manifest lists a path outside the backup: {}", file.path);
    }
    if !manifest.files.iter().any(|file| file.path == DATABASE) {
        bail!("the backup has no {DATABASE}");
    }
    Ok(manifest)
}

fn check_database(file: &Path) -> Result<()> {
    Store::check_file(file).with_context(|| format!("{} is damaged", file.display()))
}

/// Reads every dataset and recomputes its hash from its rows.
fn check_datasets(dir: &Path) -> Result<()> {
    let catalogue = Catalogue::at(dir);
    for entry in catalogue.list()?.iter().filter(|entry| entry.bytes > 0) {
        catalogue.verify(&entry.hash.to_hex())?;
    }
    Ok(())
}

/// The files of a datasets directory, sorted. Names of locks and unfinished files start with a dot.
fn files_below(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(relative) = pending.pop() {
        let folder = dir.join(&relative);
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            entries => entries.with_context(|| folder.display().to_string())?,
        };
        for entry in entries {
            let entry = entry.with_context(|| folder.display().to_string())?;
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            let path = relative.join(entry.file_name());
            if entry.file_type()?.is_dir() { pending.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    Ok(found)
}

/// Copies a file durably, together with the directories above it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(dir) = to.parent() {
        make_data_dir(dir)?;
    }
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    sync(to)
}

fn sync(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).with_context(|| path.display().to_string())
}

fn describe(dir: &Path, path: &Path) -> Result<BackupFile> {
    let file = dir.join(path);
    let meta = file.metadata().with_context(|| file.display().to_string())?;
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    Ok(BackupFile { path: parts.join("/"), bytes: meta.len(), blake3: hash(&file)? })
}

fn hash(file: &Path) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    let opened = File::open(file).with_context(|| file.display().to_string())?;
    hasher.update_reader(opened).with_context(|| file.display().to_string())?;
    Ok(hasher.finalize().to_hex().to_string())
}

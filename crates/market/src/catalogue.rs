//! The available datasets: the bundled one, and those in a directory.

use crate::bundled::bundled;
use crate::dataset_dir::{DatasetDir, Name};
use crate::entry::Entry;
use crate::error::MarketError;
use crate::mask::{self, MaskedDataset, mask};
use papertape_core::id::ContentHash;
use papertape_core::market::{Dataset, MaskKind, Masking};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The minimum number of hex digits that identify a dataset.
const MIN_HASH_DIGITS: usize = 6;
/// How many datasets of the directory stay open: the most recently used.
const MAX_OPEN: usize = 4;

/// The available datasets, by name and by content hash.
///
/// Datasets in a directory are read when they are opened, including those that another process has added
/// since. The most recently used ones stay open.
#[derive(Debug)]
pub struct Catalogue {
    /// In memory, in the order in which they were added.
    datasets: Vec<Arc<Dataset>>,
    /// The market profiles of the datasets in memory, by dataset name.
    markets: BTreeMap<String, String>,
    dir: Option<DatasetDir>,
    /// The most recently used last.
    open: Mutex<Vec<Arc<Dataset>>>,
}

impl Catalogue {
    /// A catalogue of the bundled dataset only.
    #[must_use]
    pub fn bundled() -> Self {
        Self { datasets: vec![bundled()], markets: BTreeMap::new(), dir: None, open: Mutex::default() }
    }

    /// The bundled dataset and those in a directory, which is created when the first one is added.
    #[must_use]
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: Some(DatasetDir::new(dir)), ..Self::bundled() }
    }

    /// Adds a dataset in memory.
    ///
    /// # Errors
    /// [`MarketError::NameTaken`] if another dataset has its name; adding the same one twice is not an error.
    pub fn add(&mut self, dataset: Arc<Dataset>) -> Result<(), MarketError> {
        match self.datasets.iter().find(|other| other.name() == dataset.name()) {
            Some(same) if same.hash() == dataset.hash() => {}
            Some(_) => return Err(MarketError::NameTaken { name: dataset.name().to_owned() }),
            None => self.datasets.push(dataset),
        }
        Ok(())
    }

    /// Adds a dataset in memory together with its default market profile.
    ///
    /// # Errors
    /// As [`Self::add`]; if it is added twice, the first market profile stays.
    pub fn add_with_market(&mut self, dataset: Arc<Dataset>, market: &str) -> Result<(), MarketError> {
        let name = dataset.name().to_owned();
        self.add(dataset)?;
        self.markets.entry(name).or_insert_with(|| market.to_owned());
        Ok(())
    }

    /// The market profile of runs that name none; `None` if the source does not define one.
    #[must_use]
    pub fn default_market(&self, dataset: &Dataset) -> Option<String> {
        if self.datasets.iter().any(|other| other.name() == dataset.name()) {
            return self.markets.get(dataset.name()).cloned();
        }
        // Unreadable files were already reported when the dataset was opened.
        let name = self.dir.as_ref().and_then(|dir| dir.name(dataset.name()).ok().flatten());
        name.and_then(|name| name.market)
    }

    /// Stores a dataset in the directory under its name, with the market profile of runs that name none. The
    /// write is atomic, even if the process dies. Returns `false` if the identical dataset already existed.
    ///
    /// # Errors
    /// [`MarketError::NameTaken`] if the name refers to other content and `replace` is not set; with
    /// `replace`, the other content stays and is found by its hash. [`MarketError::Name`];
    /// [`MarketError::Io`].
    pub fn store(&self, dataset: &Dataset, market: Option<&str>, replace: bool) -> Result<bool, MarketError> {
        let taken = || MarketError::NameTaken { name: dataset.name().to_owned() };
        if let Some(own) = self.datasets.iter().find(|other| other.name() == dataset.name()) {
            return if own.hash() == dataset.hash() { Ok(false) } else { Err(taken()) };
        }
        self.dir()?.put((dataset, None), market, replace)
    }

    /// The masked form of a dataset with its translation. It is derived and stored if it is not in the directory yet.
    ///
    /// # Errors
    /// As [`mask`] and [`store`](Self::store); [`MarketError::NoDirectory`].
    pub fn masked(&self, source: &Dataset, kind: MaskKind) -> Result<(Arc<Dataset>, Masking), MarketError> {
        let name = mask::name_of(source.hash(), kind);
        if let Some(masking) = self.masking(&name)?.filter(|masking| masking.version == mask::VERSION) {
            return Ok((self.open(&name)?, masking));
        }
        let MaskedDataset { dataset, masking } = mask(source, kind)?;
        let market = self.default_market(source);
        // An older version of the rules loses the name; its jobs find it by its hash.
        self.dir()?.put((&dataset, Some(&masking)), market.as_deref(), true)?;
        Ok((self.open(&name)?, masking))
    }

    /// The translation of a masked dataset to its source; `None` if the dataset is not masked, or not stored here.
    ///
    /// # Errors
    /// [`MarketError::Io`]; [`MarketError::Damaged`].
    pub fn masking(&self, name_or_hash: &str) -> Result<Option<Masking>, MarketError> {
        match (&self.dir, self.find(name_or_hash)) {
            (Some(dir), Ok(entry)) => dir.masking(entry.hash),
            (_, Err(MarketError::NotFound { .. })) | (None, _) => Ok(None),
            (_, Err(error)) => Err(error),
        }
    }

    /// Removes a dataset from the directory: by name, with its content unless another name refers to it; or
    /// by hash, if the content no longer has a name. The caller must know whether jobs still need it.
    ///
    /// # Errors
    /// As [`find`](Self::find); [`MarketError::Fixed`] for a dataset that is part of the program.
    pub fn remove(&self, name_or_hash: &str) -> Result<Entry, MarketError> {
        let entry = self.find(name_or_hash)?;
        if self.datasets.iter().any(|dataset| dataset.hash() == entry.hash && dataset.name() == entry.name) {
            return Err(MarketError::Fixed { name: entry.name });
        }
        let dir = self.dir()?;
        if entry.replaced {
            dir.remove_content(entry.hash)?
        } else {
            dir.remove_name(&entry.name)?
        }
        self.opened().retain(|dataset| dataset.hash() != entry.hash);
        Ok(entry)
    }

    /// Its datasets, by name; older content of a name follows the newer.
    ///
    /// # Errors
    /// [`MarketError::Io`]; [`MarketError::Damaged`].
    pub fn list(&self) -> Result<Vec<Entry>, MarketError> {
        let mut entries: Vec<Entry> = self.datasets.iter().map(|one| self.in_memory(one)).collect();
        if let Some(dir) = &self.dir {
            let names = dir.names()?;
            for name in &names {
                entries.extend(entry_of(dir, name)?);
            }
            let named: BTreeSet<ContentHash> = names.iter().map(|name| name.hash).collect();
            for hash in dir.hashes()?.into_iter().filter(|hash| !named.contains(hash)) {
                entries.extend(dir.info(hash)?.map(|info| Entry { replaced: true, ..info.entry }));
            }
        }
        entries.sort_by(|a, b| (&a.name, a.replaced, a.hash).cmp(&(&b.name, b.replaced, b.hash)));
        Ok(entries)
    }

    /// The entry of the dataset with this name, or whose hash starts with these hex digits, six or more.
    ///
    /// # Errors
    /// [`MarketError::NotFound`] and [`MarketError::Ambiguous`]; those of [`list`](Self::list).
    pub fn find(&self, name_or_hash: &str) -> Result<Entry, MarketError> {
        let not_found = || MarketError::NotFound { name_or_hash: name_or_hash.to_owned() };
        if let Some(own) = self.datasets.iter().find(|dataset| dataset.name() == name_or_hash) {
            return Ok(self.in_memory(own));
        }
        if let Some(dir) = &self.dir
            && let Some(name) = dir.name(name_or_hash)?
        {
            return entry_of(dir, &name)?.ok_or_else(not_found);
        }
        let prefix = name_or_hash.to_ascii_lowercase();
        if prefix.len() < MIN_HASH_DIGITS || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(not_found());
        }
        let mut found: Vec<Entry> =
            self.list()?.into_iter().filter(|entry| entry.hash.to_hex().starts_with(&prefix)).collect();
        // The same content under several names is a single dataset by hash.
        if found.windows(2).any(|pair| pair[0].hash != pair[1].hash) {
            let matches = found.into_iter().map(|entry| entry.name).collect();
            return Err(MarketError::Ambiguous { name_or_hash: name_or_hash.to_owned(), matches });
        }
        if found.is_empty() { Err(not_found()) } else { Ok(found.swap_remove(0)) }
    }

    /// Opens the dataset with this name, or whose hash starts with these hex digits, six or more.
    ///
    /// # Errors
    /// As [`find`](Self::find); [`MarketError::Damaged`] if the file differs from what was written.
    pub fn open(&self, name_or_hash: &str) -> Result<Arc<Dataset>, MarketError> {
        let entry = self.find(name_or_hash)?;
        let is_entry = |dataset: &&Arc<Dataset>| dataset.hash() == entry.hash && dataset.name() == entry.name;
        if let Some(dataset) = self.datasets.iter().find(is_entry) {
            return Ok(Arc::clone(dataset));
        }
        let mut opened = self.opened();
        if let Some(at) = opened.iter().position(|dataset| is_entry(&dataset)) {
            let dataset = opened.remove(at);
            opened.push(Arc::clone(&dataset));
            return Ok(dataset);
        }
        // The lock is held while reading, so that two callers of the same dataset read it only once.
        let dataset = Arc::new(self.dir()?.open(&entry.name, entry.hash)?);
        opened.push(Arc::clone(&dataset));
        let excess = opened.len().saturating_sub(MAX_OPEN);
        opened.drain(..excess);
        Ok(dataset)
    }

    /// Reads a dataset again, from disk if it is stored there, and computes its hash from its rows.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`MarketError::Damaged`] if the hash differs.
    pub fn verify(&self, name_or_hash: &str) -> Result<Entry, MarketError> {
        let entry = self.find(name_or_hash)?;
        let own = self.datasets.iter().find(|dataset| dataset.hash() == entry.hash);
        let dataset = match own {
            Some(own) => Arc::clone(own),
            None => Arc::new(self.dir()?.open(&entry.name, entry.hash)?),
        };
        let computed = dataset.computed_hash();
        if computed != entry.hash {
            return Err(MarketError::Damaged {
                file: entry.name,
                reason: format!("its rows have the hash {computed}, not {}", entry.hash),
            });
        }
        Ok(entry)
    }

    fn in_memory(&self, dataset: &Dataset) -> Entry {
        Entry { market: self.markets.get(dataset.name()).cloned(), ..Entry::of(dataset) }
    }

    fn dir(&self) -> Result<&DatasetDir, MarketError> {
        self.dir.as_ref().ok_or(MarketError::NoDirectory)
    }

    fn opened(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Dataset>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn entry_of(dir: &DatasetDir, name: &Name) -> Result<Option<Entry>, MarketError> {
    let info = dir.info(name.hash)?;
    Ok(info.map(|info| Entry { name: name.name.clone(), market: name.market.clone(), ..info.entry }))
}

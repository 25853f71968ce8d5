//! The datasets at hand.

use crate::bundled::bundled;
use crate::error::MarketError;
use papertape_core::id::{ContentHash, Symbol};
use papertape_core::market::Dataset;
use papertape_core::time::Date;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The fewest hex digits by which a dataset can be called.
const FEWEST_DIGITS: usize = 6;

/// The datasets at hand, by name and by content hash.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// In the order in which they were added.
    datasets: Vec<Arc<Dataset>>,
    /// The market profile that a dataset is traded by where nobody names one, by the dataset's name.
    markets: BTreeMap<String, String>,
}

/// One dataset of a catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its content hash.
    pub hash: ContentHash,
    /// The exchange's time zone.
    pub zone: String,
    /// Its symbols, in byte order.
    pub symbols: Vec<Symbol>,
    /// Its first trading day.
    pub first_day: Option<Date>,
    /// Its last trading day.
    pub last_day: Option<Date>,
    /// How many trading days it has.
    pub days: usize,
    /// How many bars it has.
    pub bars: usize,
    /// The market profile that it is traded by where nobody names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub market: Option<String>,
}

impl Catalogue {
    /// A catalogue of the bundled datasets.
    #[must_use]
    pub fn bundled() -> Self {
        Self { datasets: vec![bundled()], markets: BTreeMap::new() }
    }

    /// Adds a dataset.
    ///
    /// # Errors
    /// [`MarketError::NameTaken`] where another dataset has its name; adding one twice is no error.
    pub fn add(&mut self, dataset: Arc<Dataset>) -> Result<(), MarketError> {
        match self.datasets.iter().find(|other| other.name() == dataset.name()) {
            Some(same) if same.hash() == dataset.hash() => {}
            Some(_) => {
                return Err(MarketError::NameTaken { name: dataset.name().to_owned() });
            }
            None => self.datasets.push(dataset),
        }
        Ok(())
    }

    /// Adds a dataset together with the market profile that it is traded by where nobody names one.
    ///
    /// # Errors
    /// As [`Self::add`]; the first to name a market stays.
    pub fn add_with_market(&mut self, dataset: Arc<Dataset>, market: &str) -> Result<(), MarketError> {
        let name = dataset.name().to_owned();
        self.add(dataset)?;
        self.markets.entry(name).or_insert_with(|| market.to_owned());
        Ok(())
    }

    /// The market profile that a dataset is traded by where nobody names one; `None` where its source
    /// says nothing.
    #[must_use]
    pub fn default_market(&self, dataset: &Dataset) -> Option<String> {
        self.markets.get(dataset.name()).cloned()
    }

    /// Its datasets, by name.
    #[must_use]
    pub fn list(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = self.datasets.iter().map(|one| self.entry(one)).collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        entries
    }

    /// The dataset of this name, or whose hash begins with these hex digits, six or more.
    ///
    /// # Errors
    /// [`MarketError::NotFound`] and [`MarketError::Ambiguous`].
    pub fn open(&self, wanted: &str) -> Result<Arc<Dataset>, MarketError> {
        if let Some(dataset) = self.datasets.iter().find(|dataset| dataset.name() == wanted) {
            return Ok(Arc::clone(dataset));
        }
        let prefix = wanted.to_ascii_lowercase();
        let fits = |dataset: &&Arc<Dataset>| {
            prefix.len() >= FEWEST_DIGITS && dataset.hash().to_hex().starts_with(&prefix)
        };
        let found: Vec<&Arc<Dataset>> = self.datasets.iter().filter(fits).collect();
        match found[..] {
            [] => Err(MarketError::NotFound { wanted: wanted.to_owned() }),
            // The same content under several names is one dataset by its hash.
            [first, ..] if found.iter().all(|other| other.hash() == first.hash()) => Ok(Arc::clone(first)),
            _ => Err(MarketError::Ambiguous {
                wanted: wanted.to_owned(),
                matches: found.iter().map(|dataset| dataset.name().to_owned()).collect(),
            }),
        }
    }

    fn entry(&self, dataset: &Dataset) -> Entry {
        let date = |day: Option<&papertape_core::market::TradingDay>| day.map(|day| day.date);
        Entry {
            name: dataset.name().to_owned(),
            hash: dataset.hash(),
            zone: dataset.zone().to_owned(),
            symbols: dataset.all_symbols().cloned().collect(),
            first_day: date(dataset.days().first()),
            last_day: date(dataset.days().last()),
            days: dataset.days().len(),
            bars: dataset.bar_count(),
            market: self.default_market(dataset),
        }
    }
}

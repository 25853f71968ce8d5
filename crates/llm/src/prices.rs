//! Token prices.

use crate::config::ConfigError;
use papertape_core::message::{ModelName, Usage};
use rust_decimal::Decimal;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

const BUILT_IN: &str = include_str!("../prices.toml");

/// A model's list price, in USD per million tokens.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// `provider::model`. A dated snapshot of a model (`model-2025-04-14`) has the model's price.
    pub model: ModelName,
    /// Input tokens.
    pub input: Decimal,
    /// Input tokens read from the provider's cache; absent: the price of `input`.
    pub cached: Option<Decimal>,
    /// Output tokens, reasoning included.
    pub output: Decimal,
    /// The day or quarter when `source` stated it.
    pub stated: String,
    /// The source.
    pub source: String,
}

impl Price {
    /// The cost of the usage in USD: ((input - cached) x price of input + cached x price of cached + output x
    /// price of output) / 10^6.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Decimal {
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let fresh = usage.input_tokens - cached;
        let sum = Decimal::from(fresh) * self.input
            + Decimal::from(cached) * self.cached.unwrap_or(self.input)
            + Decimal::from(usage.output_tokens) * self.output;
        (sum / Decimal::from(1_000_000)).normalize()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    #[serde(default)]
    price: Vec<Price>,
}

/// The known prices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices(BTreeMap<ModelName, Price>);

impl Prices {
    /// The built-in prices, extended or replaced by those in the file at `path`.
    ///
    /// # Errors
    /// A file that cannot be read or parsed.
    pub fn load(path: Option<&Path>) -> Result<Self, ConfigError> {
        let mut prices = Self::parse(BUILT_IN)?;
        if let Some(path) = path {
            let fault = |fault: String| ConfigError::Prices { fault };
            let text = std::fs::read_to_string(path)
                .map_err(|error| fault(format!("{} cannot be read: {error}", path.display())))?;
            prices.0.extend(Self::parse(&text)?.0);
        }
        Ok(prices)
    }

    /// Parses a list of prices.
    ///
    /// # Errors
    /// Invalid TOML, or a negative price.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let fault = |fault: String| ConfigError::Prices { fault };
        let file: PriceFile =
            toml::from_str(text).map_err(|error| fault(format!("is malformed: {error}")))?;
        let mut prices = BTreeMap::new();
        for price in file.price {
            let below = |amount: &Decimal| amount.is_sign_negative() && !amount.is_zero();
            if below(&price.input) || below(&price.output) || price.cached.as_ref().is_some_and(below) {
                return Err(fault(format!("gives {} a price below zero", price.model)));
            }
            prices.insert(price.model.clone(), price);
        }
        Ok(Self(prices))
    }

    /// The model's price; `None` when it is unknown.
    #[must_use]
    pub fn get(&self, model: &ModelName) -> Option<&Price> {
        self.0.get(model).or_else(|| {
            let undated = undated(&model.model)?;
            self.0.get(&ModelName { provider: model.provider.clone(), model: undated.to_owned() })
        })
    }

    /// All prices, by model name.
    pub fn iter(&self) -> impl Iterator<Item = &Price> {
        self.0.values()
    }
}

/// The name without the date of a snapshot, `-YYYY-MM-DD` or `-YYYYMMDD`, at its end.
fn undated(model: &str) -> Option<&str> {
    ["-dddd-dd-dd", "-dddddddd"].into_iter().find_map(|form| {
        let at = model.len().checked_sub(form.len())?;
        let (name, date) = (model.get(..at)?, model.get(at..)?);
        let fits = date.bytes().zip(form.bytes()).all(|(byte, form)| match form {
            b'd' => byte.is_ascii_digit(),
            dash => byte == dash,
        });
        (fits && !name.is_empty()).then_some(name)
    })
}

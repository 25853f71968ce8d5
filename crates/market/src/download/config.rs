//! The addresses of the sources, their request rates and the names of their keys.

use serde::{Deserialize, Serialize};

/// All sources. Keys are never stored here, only the names of the variables that hold them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DownloadConfig {
    /// Seconds after which an incomplete request times out.
    pub timeout_secs: u64,
    /// The maximum pause in seconds that a source may request. If it requests more, the download ends and can
    /// be resumed later.
    pub max_wait_secs: u64,
    /// Alpha Vantage.
    pub alpha_vantage: AlphaVantageConfig,
    /// Yahoo's chart API.
    pub yahoo: YahooConfig,
    /// Stooq.
    pub stooq: StooqConfig,
    /// Binance's spot market.
    pub binance: BinanceConfig,
}

impl Default for DownloadConfig {
    fn default() -> Self {
        Self {
            timeout_secs: 60,
            max_wait_secs: 600,
            alpha_vantage: AlphaVantageConfig::default(),
            yahoo: YahooConfig::default(),
            stooq: StooqConfig::default(),
            binance: BinanceConfig::default(),
        }
    }
}

impl DownloadConfig {
    /// Validates the values.
    ///
    /// # Errors
    /// The invalid key, and why.
    pub fn check(&self) -> Result<(), String> {
        if self.timeout_secs == 0 {
            return Err("download.timeout_secs: no request can be answered in no time".to_owned());
        }
        for source in SourceName::ALL {
            let (url, per_minute) = self.endpoint(source);
            super::client::base_url(url)
                .map_err(|reason| format!("download.{}.base_url: {reason}", source.key()))?;
            if per_minute == 0 {
                return Err(format!("download.{}.requests_per_minute: it must be 1 or more", source.key()));
            }
        }
        Ok(())
    }

    /// A source's address and its request limit per minute.
    #[must_use]
    pub fn endpoint(&self, source: SourceName) -> (&str, u32) {
        match source {
            SourceName::AlphaVantage => {
                (&self.alpha_vantage.base_url, self.alpha_vantage.requests_per_minute)
            }
            SourceName::Yahoo => (&self.yahoo.base_url, self.yahoo.requests_per_minute),
            SourceName::Stooq => (&self.stooq.base_url, self.stooq.requests_per_minute),
            SourceName::Binance => (&self.binance.base_url, self.binance.requests_per_minute),
        }
    }

    /// The variable that holds a source's key; `None` if it takes none.
    #[must_use]
    pub fn api_key_env(&self, source: SourceName) -> Option<&str> {
        match source {
            SourceName::AlphaVantage => Some(&self.alpha_vantage.api_key_env),
            SourceName::Stooq => Some(&self.stooq.api_key_env),
            SourceName::Yahoo | SourceName::Binance => None,
        }
    }
}

/// The available sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceName {
    /// Alpha Vantage.
    AlphaVantage,
    /// Yahoo's chart API.
    Yahoo,
    /// Stooq.
    Stooq,
    /// Binance's spot market.
    Binance,
}

impl SourceName {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::AlphaVantage, Self::Yahoo, Self::Stooq, Self::Binance];

    /// As the command line spells it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AlphaVantage => "alpha-vantage",
            Self::Yahoo => "yahoo",
            Self::Stooq => "stooq",
            Self::Binance => "binance",
        }
    }

    /// As the configuration spells it.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::AlphaVantage => "alpha_vantage",
            other => other.as_str(),
        }
    }

    /// Whether it requires a key for every request.
    #[must_use]
    pub const fn needs_key(self) -> bool {
        matches!(self, Self::AlphaVantage)
    }
}

macro_rules! source_config {
    ($(#[$doc:meta])* $name:ident, $url:literal, $per_minute:literal $(, $key:literal)?) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            /// The base URL.
            pub base_url: String,
            $(
                #[doc = concat!("The variable that holds its key, or, with `_FILE` after it, names a file \
                    that does; `", $key, "` where no other is given.")]
                pub api_key_env: String,
            )?
            /// Requests per minute, evenly spaced.
            pub requests_per_minute: u32,
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    base_url: $url.to_owned(),
                    $(api_key_env: $key.to_owned(),)?
                    requests_per_minute: $per_minute,
                }
            }
        }
    };
}

source_config!(
    /// Alpha Vantage. It takes its key as a query parameter.
    AlphaVantageConfig,
    "https://www.alphavantage.co/",
    5,
    "ALPHAVANTAGE_API_KEY"
);
source_config!(
    /// Yahoo's chart API. It takes no key.
    YahooConfig,
    "https://query1.finance.yahoo.com/",
    30
);
source_config!(
    /// Stooq. It takes an optional key as a query parameter.
    StooqConfig,
    "https://stooq.com/",
    20,
    "STOOQ_API_KEY"
);
source_config!(
    /// Binance's spot market. It takes no key for prices.
    BinanceConfig,
    "https://api.binance.com/",
    600
);

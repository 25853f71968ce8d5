//! Vendors of market data, a folder each: its configuration, its requests, and the formats of its files.
//!
//! A new vendor is a folder here, with a unit struct that implements [`Vendor`], and a line in `vendors!`.

mod alpha_vantage;
mod binance;
mod cache_meta;
mod config;
mod request;
mod stooq;
mod vendor;
mod yahoo;

pub use alpha_vantage::AlphaVantageConfig;
pub use binance::BinanceConfig;
pub(crate) use cache_meta::{CacheMeta, hidden};
pub(crate) use config::base_url;
pub use request::{BarInterval, DataKind, DownloadRequest};
pub use stooq::StooqConfig;
pub(crate) use vendor::{DataQuery, DataResponse, FetchContext, Page, ResponseError, Vendor};
pub use yahoo::YahooConfig;

use crate::input::Basis;
use serde::{Deserialize, Serialize};

macro_rules! vendors {
    ($($(#[$doc:meta])* $name:ident: $folder:ident, $spelling:literal, $config:ident;)*) => {
        /// The available sources.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum SourceName {
            $($(#[$doc])* #[serde(rename = $spelling)] $name,)*
        }

        impl SourceName {
            /// All of them.
            pub const ALL: [Self; [$($spelling),*].len()] = [$(Self::$name),*];

            /// As the command line spells it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $spelling,)*
                }
            }

            /// As the configuration spells it.
            #[must_use]
            pub const fn key(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($folder),)*
                }
            }

            pub(crate) fn vendor(self) -> &'static dyn Vendor {
                match self {
                    $(Self::$name => &$folder::$name,)*
                }
            }
        }

        /// The configuration of all sources. Keys are never stored here, only the names of the variables
        /// that hold them.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct DownloadConfig {
            /// Seconds after which an incomplete request times out.
            pub timeout_secs: u64,
            /// The maximum pause in seconds that a source may request. If it requests more, the download ends
            /// and can be resumed later.
            pub max_wait_secs: u64,
            $($(#[$doc])* pub $folder: $config,)*
        }

        impl Default for DownloadConfig {
            fn default() -> Self {
                Self { timeout_secs: 60, max_wait_secs: 600, $($folder: $config::default(),)* }
            }
        }

        impl DownloadConfig {
            fn of(&self, source: SourceName) -> &dyn config::VendorConfig {
                match source {
                    $(SourceName::$name => &self.$folder,)*
                }
            }
        }
    };
}

vendors! {
    /// Alpha Vantage.
    AlphaVantage: alpha_vantage, "alpha-vantage", AlphaVantageConfig;
    /// Yahoo's chart API.
    Yahoo: yahoo, "yahoo", YahooConfig;
    /// Stooq.
    Stooq: stooq, "stooq", StooqConfig;
    /// Binance's spot market.
    Binance: binance, "binance", BinanceConfig;
}

impl SourceName {
    /// Whether it requires a key for every request.
    #[must_use]
    pub fn needs_key(self) -> bool {
        self.vendor().needs_key()
    }

    /// The share units of the prices that it is asked for, if its responses do not state them.
    #[must_use]
    pub fn basis(self) -> Option<Basis> {
        self.vendor().basis()
    }

    /// Whether its responses show that the newest bar is not over.
    #[must_use]
    pub fn marks_unfinished_bars(self) -> bool {
        self.vendor().marks_unfinished_bars()
    }
}

impl DownloadConfig {
    /// Validates the values.
    ///
    /// # Errors
    /// The invalid key, and why.
    pub fn check(&self) -> Result<(), String> {
        if self.timeout_secs == 0 {
            return Err("download.timeout_secs: must be above 0".to_owned());
        }
        for source in SourceName::ALL {
            let (url, per_minute) = self.endpoint(source);
            base_url(url).map_err(|reason| format!("download.{}.base_url: {reason}", source.key()))?;
            if per_minute == 0 {
                return Err(format!("download.{}.requests_per_minute: it must be 1 or more", source.key()));
            }
        }
        Ok(())
    }

    /// A source's address and its request limit per minute.
    #[must_use]
    pub fn endpoint(&self, source: SourceName) -> (&str, u32) {
        self.of(source).endpoint()
    }

    /// The variable that holds a source's key; `None` if it takes none.
    #[must_use]
    pub fn api_key_env(&self, source: SourceName) -> Option<&str> {
        self.of(source).api_key_env()
    }
}

//! What the configurations of all vendors have in common.

use reqwest::Url;

/// A vendor's configuration.
pub(super) trait VendorConfig {
    /// The base URL, and the requests per minute.
    fn endpoint(&self) -> (&str, u32);

    /// The variable that holds the key; `None` if the vendor takes none.
    fn api_key_env(&self) -> Option<&str>;
}

macro_rules! vendor_config {
    ($(#[$doc:meta])* $name:ident, $url:literal, $per_minute:literal $(, $env:ident = $key:literal)?) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            /// The base URL.
            pub base_url: String,
            $(
                #[doc = concat!("The variable that holds its key, or, with `_FILE` after it, names a file \
                    that does. Default: `", $key, "`.")]
                pub $env: String,
            )?
            /// Requests per minute, evenly spaced.
            pub requests_per_minute: u32,
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    base_url: $url.to_owned(),
                    $($env: $key.to_owned(),)?
                    requests_per_minute: $per_minute,
                }
            }
        }

        impl $crate::vendors::config::VendorConfig for $name {
            fn endpoint(&self) -> (&str, u32) {
                (&self.base_url, self.requests_per_minute)
            }

            fn api_key_env(&self) -> Option<&str> {
                let variables: &[&str] = &[$(&self.$env)?];
                variables.first().copied()
            }
        }
    };
}
pub(super) use vendor_config;

/// Parses a base URL.
///
/// # Errors
/// Why it is invalid; the address is not repeated if it may contain a secret.
pub(crate) fn base_url(text: &str) -> Result<Url, String> {
    let url: Url = text.trim().parse().map_err(|_| "it is not an address".to_owned())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("it must begin with http:// or https:// and name a host".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err("it may hold neither a user, nor a password, nor a query".to_owned());
    }
    Ok(url)
}

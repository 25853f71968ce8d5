//! Who may use the server.

use crate::access::AccessToken;
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Who may use the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuthConfig {
    /// The tokens that grant access; none: anyone who can reach the server, which must then listen on loopback only.
    pub tokens: Vec<AccessToken>,
    /// Hours after which a browser must log in again.
    pub session_hours: u32,
}

impl Default for AuthConfig {
    fn default() -> Self {
        Self { tokens: Vec::new(), session_hours: 12 }
    }
}

impl AuthConfig {
    /// # Errors
    /// A duplicate name or token, an empty name, a session lifetime of 0.
    pub(super) fn check(&self) -> Result<()> {
        let (mut names, mut hashes) = (BTreeSet::new(), BTreeSet::new());
        for token in &self.tokens {
            if token.name.trim().is_empty() {
                bail!("auth.tokens: a token has no name");
            }
            if !names.insert(&token.name) {
                bail!("auth.tokens: duplicate name `{}`", token.name);
            }
            if !hashes.insert(token.hash.to_string()) {
                bail!("auth.tokens: `{}` has the same hash as another token", token.name);
            }
        }
        if !(1..=8_760).contains(&self.session_hours) {
            bail!("auth.session_hours: {} is out of range; expected 1 to 8760", self.session_hours);
        }
        Ok(())
    }
}

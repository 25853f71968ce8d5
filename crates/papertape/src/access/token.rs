//! Tokens: random texts that only their hash is kept of.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::hash::{Hash, Hasher};

/// What every token begins with, so that it is known for what it is wherever it turns up.
pub const TOKEN_PREFIX: &str = "ptk_";
/// What the hash of a token begins with in the configuration.
pub const HASH_PREFIX: &str = "blake3:";
/// Digits of a token behind its prefix.
const DIGITS: usize = 64;

/// A new token: 64 hexadecimal digits of the system's randomness, of which 244 bits are free.
#[must_use]
pub fn new_token() -> String {
    format!("{TOKEN_PREFIX}{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple())
}

/// The hash of a token. Tokens cannot be guessed, so a fast hash keeps them as well as a slow one. Two are
/// compared in constant time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenHash(blake3::Hash);

impl TokenHash {
    /// Of any text.
    #[must_use]
    pub fn of(token: &str) -> Self {
        Self(blake3::hash(token.as_bytes()))
    }

    /// Of a text that has a token's form; `None` of any other, so that no password of somebody's own can
    /// be made a token by hashing it.
    #[must_use]
    pub fn of_well_formed(token: &str) -> Option<Self> {
        let digits = token.strip_prefix(TOKEN_PREFIX)?;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (digits.len() == DIGITS && digits.bytes().all(is_hex)).then(|| Self::of(token))
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{HASH_PREFIX}{}", self.0.to_hex())
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Hash for TokenHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_bytes().hash(state);
    }
}

impl Serialize for TokenHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TokenHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let hash = text.strip_prefix(HASH_PREFIX).and_then(|hex| blake3::Hash::from_hex(hex).ok());
        // The text is not repeated: somebody may have put the token itself there.
        hash.map(Self).ok_or_else(|| {
            de::Error::custom("it is no hash of a token; `papertape auth token NAME` makes one")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_hash_alone() {
        let (one, other) = (new_token(), new_token());
        assert_ne!(one, other);
        let hash = TokenHash::of_well_formed(&one).expect("it has the form");
        assert_ne!(Some(hash), TokenHash::of_well_formed(&other));
        let text = serde_json::to_string(&hash).expect("JSON");
        assert!(text.starts_with("\"blake3:") && !text.contains(&one[TOKEN_PREFIX.len()..]), "{text}");
        assert_eq!(serde_json::from_str::<TokenHash>(&text).expect("reads"), hash);
        for other in ["", "ptk_", "password", &one[..67], &format!("{one}0"), &one.to_uppercase()] {
            assert_eq!(TokenHash::of_well_formed(other), None, "{other}");
        }
    }

    /// Who puts a token where its hash belongs is told so, and the token is not told on.
    #[test]
    fn a_token_is_no_hash() {
        let token = new_token();
        let error = serde_json::from_str::<TokenHash>(&format!("\"{token}\"")).expect_err("refused");
        assert!(error.to_string().contains("papertape auth token") && !error.to_string().contains(&token));
    }
}

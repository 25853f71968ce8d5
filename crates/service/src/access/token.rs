//! Tokens: random strings, stored only as hashes.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::hash::{Hash, Hasher};

/// The prefix of every token, so that one is recognizable wherever it turns up.
pub const TOKEN_PREFIX: &str = "ptk_";
/// The prefix of a token's hash in the configuration.
pub const HASH_PREFIX: &str = "blake3:";
/// The number of hexadecimal digits after the prefix.
const DIGITS: usize = 64;

/// A new token: 64 hexadecimal digits from the system's random source, with 244 bits of entropy.
#[must_use]
pub fn new_token() -> String {
    format!("{TOKEN_PREFIX}{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple())
}

/// The hash of a token. Tokens cannot be guessed, so a fast hash is as safe as a slow one. Comparison takes
/// constant time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenHash(blake3::Hash);

impl TokenHash {
    /// Hashes any text.
    #[must_use]
    pub fn of(token: &str) -> Self {
        Self(blake3::hash(token.as_bytes()))
    }

    /// Hashes a text that has the form of a token; `None` for any other, so that hashing a password of your
    /// own cannot make it a token.
    #[must_use]
    pub fn from_well_formed(token: &str) -> Option<Self> {
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
        // The text is not repeated: it may be the token itself.
        hash.map(Self)
            .ok_or_else(|| de::Error::custom("not a token hash; create one with `papertape auth token NAME`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_hash_only() {
        let (one, other) = (new_token(), new_token());
        assert_ne!(one, other);
        let hash = TokenHash::from_well_formed(&one).expect("it has the form");
        assert_ne!(Some(hash), TokenHash::from_well_formed(&other));
        let text = serde_json::to_string(&hash).expect("JSON");
        assert!(text.starts_with("\"blake3:") && !text.contains(&one[TOKEN_PREFIX.len()..]), "{text}");
        assert_eq!(serde_json::from_str::<TokenHash>(&text).expect("reads"), hash);
        for other in ["", "ptk_", "password", &one[..67], &format!("{one}0"), &one.to_uppercase()] {
            assert_eq!(TokenHash::from_well_formed(other), None, "{other}");
        }
    }

    /// A token in place of its hash is an error that does not reveal the token.
    #[test]
    fn a_token_is_not_a_hash() {
        let token = new_token();
        let error = serde_json::from_str::<TokenHash>(&format!("\"{token}\"")).expect_err("rejected");
        assert!(error.to_string().contains("papertape auth token") && !error.to_string().contains(&token));
    }
}

//! A part of the state that is stored as a separate text.

use papertape_core::json::{canonical, to_value};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value serialized to a single string, which is stored once, by its hash: states of many days share it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ContentRef<T>(pub(super) T);

impl<T: Serialize> Serialize for ContentRef<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&canonical(&to_value(&self.0)))
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for ContentRef<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        serde_json::from_str(&text).map(Self).map_err(serde::de::Error::custom)
    }
}

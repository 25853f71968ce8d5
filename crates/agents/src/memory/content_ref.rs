//! A part of the state that is stored as a separate text.

use papertape_core::json::{canonical, to_value};
use papertape_core::prepared::PreparedText;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::Deref;
use std::sync::OnceLock;

/// A value serialized to a single string, which is stored once, by its hash: states of many days share it. The
/// string is cached until the value changes.
#[derive(Clone, Debug)]
pub(super) struct ContentRef<T> {
    value: T,
    text: OnceLock<PreparedText>,
}

impl<T> ContentRef<T> {
    pub(super) fn new(value: T) -> Self {
        Self { value, text: OnceLock::new() }
    }

    /// The value, to change it.
    pub(super) fn get_mut(&mut self) -> &mut T {
        self.text = OnceLock::new();
        &mut self.value
    }
}

impl<T: Serialize> ContentRef<T> {
    /// The string.
    pub(super) fn text(&self) -> &PreparedText {
        self.text.get_or_init(|| PreparedText::new(canonical(&to_value(&self.value))))
    }
}

impl<T> Deref for ContentRef<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: PartialEq> PartialEq for ContentRef<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Serialize> Serialize for ContentRef<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text().as_str())
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for ContentRef<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        serde_json::from_str(&text).map(Self::new).map_err(serde::de::Error::custom)
    }
}

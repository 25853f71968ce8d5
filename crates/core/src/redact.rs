//! placeholder
/// x
#[derive(Default, Debug)]
pub struct Redactor;
/// x
pub struct Redacted<T> {
    /// x
    pub value: T,
    /// x
    pub removed: u32,
}
impl Redactor {
    /// x
    pub fn redact_text(&self, t: &str) -> Redacted<String> {
        Redacted { value: t.to_owned(), removed: 0 }
    }
    /// x
    pub fn redact_value(&self, t: serde_json::Value) -> Redacted<serde_json::Value> {
        Redacted { value: t, removed: 0 }
    }
}

//! What a name says of its value.

/// How strongly a name indicates a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    /// The value is a secret unless it is clearly something else.
    Strong,
    /// The value is a secret if it looks like one.
    Weak,
}

/// A name that holds a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) label: &'static str,
    pub(super) strength: Strength,
}

pub(super) const fn strong(label: &'static str) -> Class {
    Class { label, strength: Strength::Strong }
}

pub(super) const fn weak(label: &'static str) -> Class {
    Class { label, strength: Strength::Weak }
}

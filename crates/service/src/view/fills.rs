//! Which rows of the books are fills.

/// Is an action a fill?
pub(super) fn is_fill(action: &str) -> bool {
    is_ordered(action) || is_forced(action)
}

/// Is it the fill of an order?
pub(super) fn is_ordered(action: &str) -> bool {
    matches!(action, "buy" | "sell" | "short" | "cover")
}

/// Is it a fill without an order?
pub(super) fn is_forced(action: &str) -> bool {
    matches!(action, "stop" | "target" | "liquidation" | "delisting")
}

//! How planted leaks leak.

/// How a dataset's views leak the future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leak {
    /// Today's bar is complete from its open on.
    TodaysBar,
    /// Every symbol is listed from the beginning.
    Listings,
    /// Cached indicator states are found without regard to share units, so one computed after a split is used before
    /// it.
    CacheWithoutShareUnits,
}

//! The opening instants of bars, in the narrowest width that holds them all.

/// When the bars of a series open, oldest first, in microseconds since the Unix epoch. If all are whole
/// minutes, the usual case, they take four bytes each.
#[derive(Clone)]
pub(super) enum Keys {
    Minutes(Vec<u32>),
    Micros(Vec<i64>),
}

const MINUTE: i64 = 60_000_000;

impl Keys {
    pub(super) fn pack(micros: Vec<i64>) -> Self {
        let minute = |at: &i64| (at % MINUTE == 0).then(|| u32::try_from(at / MINUTE).ok()).flatten();
        let minutes: Option<Vec<u32>> = micros.iter().map(minute).collect();
        match minutes {
            Some(mut minutes) => {
                minutes.shrink_to_fit();
                Self::Minutes(minutes)
            }
            None => Self::Micros(micros),
        }
    }

    /// No keys, in the same form.
    pub(super) fn empty_like(&self) -> Self {
        match self {
            Self::Minutes(_) => Self::Minutes(Vec::new()),
            Self::Micros(_) => Self::Micros(Vec::new()),
        }
    }

    /// Keeps the first `valid` keys and copies the following ones from `source`, up to `count` keys.
    pub(super) fn refill(&mut self, source: &Self, valid: usize, count: usize) {
        match (&mut *self, source) {
            (Self::Minutes(keys), Self::Minutes(source)) => refill(keys, source, valid, count),
            (Self::Micros(keys), Self::Micros(source)) => refill(keys, source, valid, count),
            _ => *self = source.clone(),
        }
    }

    /// Adds a key after the last one. `false` if it does not fit the form.
    pub(super) fn push(&mut self, micros: i64) -> bool {
        match self {
            Self::Minutes(keys) => {
                let minute = (micros % MINUTE == 0).then(|| u32::try_from(micros / MINUTE).ok()).flatten();
                keys.extend(minute);
                minute.is_some()
            }
            Self::Micros(keys) => {
                keys.push(micros);
                true
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Minutes(keys) => keys.len(),
            Self::Micros(keys) => keys.len(),
        }
    }

    /// The first `count` keys, without access to the others.
    pub(super) fn first(&self, count: usize) -> KeysSlice<'_> {
        match self {
            Self::Minutes(keys) => KeysSlice::Minutes(&keys[..count]),
            Self::Micros(keys) => KeysSlice::Micros(&keys[..count]),
        }
    }

    /// All keys.
    pub(super) fn all(&self) -> KeysSlice<'_> {
        self.first(self.len())
    }
}

/// A borrowed prefix of keys.
#[derive(Clone, Copy)]
pub(super) enum KeysSlice<'a> {
    Minutes(&'a [u32]),
    Micros(&'a [i64]),
}

impl KeysSlice<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Minutes(keys) => keys.len(),
            Self::Micros(keys) => keys.len(),
        }
    }

    /// When the bar of this row opens.
    pub(super) fn get(&self, row: usize) -> i64 {
        match self {
            Self::Minutes(keys) => i64::from(keys[row]) * MINUTE,
            Self::Micros(keys) => keys[row],
        }
    }

    /// When the last bar opens; `None` if there is none.
    pub(super) fn last(&self) -> Option<i64> {
        self.len().checked_sub(1).map(|row| self.get(row))
    }

    /// How many bars open before this instant.
    pub(super) fn before(&self, instant: i64) -> usize {
        match self {
            Self::Minutes(keys) => keys.partition_point(|at| i64::from(*at) * MINUTE < instant),
            Self::Micros(keys) => keys.partition_point(|at| *at < instant),
        }
    }

    /// How many bars open at this instant or before it.
    pub(super) fn until(&self, instant: i64) -> usize {
        self.before(instant.saturating_add(1))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = i64> {
        (0..self.len()).map(|row| self.get(row))
    }
}

/// Keeps the first `valid` items of a list and copies the following ones from `source`, up to `count` items.
pub(super) fn refill<T: Clone>(list: &mut Vec<T>, source: &[T], valid: usize, count: usize) {
    list.truncate(valid.min(count));
    let from = list.len();
    list.extend_from_slice(&source[from..count]);
}

//! Parts of a job: groups of its agents that different workers can run at the same time, and positions in the events
//! of all of them.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The maximum number of parts of a job.
pub const MAX_PARTS: u32 = 4095;
/// An event's number holds the part above these bits and its sequence number below them, so every number is exact in
/// JavaScript too.
const SEQUENCE_BITS: u32 = 40;

/// The agents of part `part`, which counts from 1, if `agents` agents are split into `parts` parts: their places in
/// the config. Parts differ in size by 1 at most. All agents for part 0, the job as a whole.
#[must_use]
pub fn agents_of_part(agents: usize, parts: u32, part: u32) -> Range<usize> {
    let (parts, part) = (parts.max(1) as usize, part as usize);
    if part == 0 {
        return 0..agents;
    }
    let start = |part: usize| (agents * part.min(parts)) / parts;
    start(part - 1)..start(part)
}

/// The number of the event with this sequence number in a part's own sequence. Part 0 is the job itself.
#[must_use]
pub fn event_number(part: u32, sequence: i64) -> i64 {
    (i64::from(part) << SEQUENCE_BITS) + sequence
}

/// The part and the sequence number of an event.
#[must_use]
pub fn part_of_event(number: i64) -> (u32, i64) {
    let part = u32::try_from(number >> SEQUENCE_BITS).unwrap_or_default();
    (part, number & ((1 << SEQUENCE_BITS) - 1))
}

/// A position in a job's events: the sequence number of the last event that was read of the job itself, then of each
/// of its parts. For clients it is opaque. In a job without parts it is one number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventPosition(
    /// Without zeros at the end.
    Vec<i64>,
);

impl EventPosition {
    /// The position after these sequence numbers: the job's own, then each part's.
    #[must_use]
    pub fn new(sequences: impl IntoIterator<Item = i64>) -> Self {
        let mut position = Self(sequences.into_iter().collect());
        position.trim();
        position
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    /// The sequence number of a part.
    #[must_use]
    pub fn of_part(&self, part: u32) -> i64 {
        self.0.get(part as usize).copied().unwrap_or_default()
    }

    /// The number of parts that it has sequence numbers of, the job itself included.
    #[must_use]
    pub fn parts(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(MAX_PARTS)
    }

    /// Sets the sequence number of a part.
    pub fn set(&mut self, part: u32, sequence: i64) {
        let at = part as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] = sequence;
        self.trim();
    }

    /// Moves past an event.
    pub fn pass(&mut self, number: i64) {
        let (part, sequence) = part_of_event(number);
        self.set(part, self.of_part(part).max(sequence));
    }

    /// Whether the event with this number comes at or before this position.
    #[must_use]
    pub fn includes(&self, number: i64) -> bool {
        let (part, sequence) = part_of_event(number);
        sequence <= self.of_part(part)
    }

    /// Whether this position is at or after another one in every part.
    #[must_use]
    pub fn reaches(&self, other: &Self) -> bool {
        self.0.len() >= other.0.len() && self.0.iter().zip(&other.0).all(|(own, other)| own >= other)
    }

    /// The first position that reaches both.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        let parts = self.0.len().max(other.0.len());
        let greater = |part: usize| {
            let of = |position: &Self| position.0.get(part).copied().unwrap_or_default();
            of(self).max(of(other))
        };
        Self((0..parts).map(greater).collect())
    }

    /// The number, if only the job itself has events up to here.
    #[must_use]
    pub fn as_number(&self) -> Option<i64> {
        match &self.0[..] {
            [] => Some(0),
            [number] => Some(*number),
            _ => None,
        }
    }
}

impl From<i64> for EventPosition {
    fn from(number: i64) -> Self {
        Self::new([number])
    }
}

impl fmt::Display for EventPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, sequence) in self.0.iter().enumerate() {
            write!(f, "{}{sequence}", if at > 0 { "-" } else { "" })?;
        }
        if self.0.is_empty() { f.write_str("0") } else { Ok(()) }
    }
}

impl FromStr for EventPosition {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |part: &str| {
            let number = part.parse::<i64>().ok();
            number.filter(|number| *number >= 0 && part.starts_with(|c: char| c.is_ascii_digit()))
        };
        let numbers: Option<Vec<i64>> = text.split('-').map(number).collect();
        numbers
            .filter(|numbers| numbers.len() <= MAX_PARTS as usize + 1)
            .map(Self::new)
            .ok_or("not a position that an event had")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Goal: every agent is in exactly one part, in the config's order, and parts differ in size by 1 at most.
        #[test]
        fn parts_cover_all_agents(agents in 1_usize..500, parts in 1_u32..60) {
            let ranges: Vec<_> = (1..=parts).map(|part| agents_of_part(agents, parts, part)).collect();
            let all: Vec<usize> = ranges.iter().cloned().flatten().collect();
            prop_assert_eq!(all, (0..agents).collect::<Vec<_>>());
            let sizes = || ranges.iter().map(ExactSizeIterator::len);
            prop_assert!(sizes().max() <= sizes().min().map(|min| min + 1));
        }

        /// Goal: a position is read as it was written, and passing events is the same in any order.
        #[test]
        fn positions_round_trip(sequences in proptest::collection::vec(0_i64..1_000_000, 0..9)) {
            let position = EventPosition::new(sequences.clone());
            prop_assert_eq!(position.to_string().parse::<EventPosition>(), Ok(position.clone()));
            let mut passed = EventPosition::default();
            for (part, sequence) in (0_u32..9).zip(&sequences).rev() {
                let number = event_number(part, *sequence);
                prop_assert_eq!(part_of_event(number), (part, *sequence));
                passed.pass(number);
                prop_assert!(position.includes(number));
                prop_assert!(!position.includes(number + 1));
            }
            prop_assert_eq!(passed, position);
        }
    }

    /// Goal: positions of different parts are compared part by part, and nonsense is rejected.
    #[test]
    fn positions_are_compared_by_part() {
        let at = |text: &str| text.parse::<EventPosition>();
        let (one, other) = (at("3-5").expect("reads"), at("3-4-1").expect("reads"));
        assert!(!one.reaches(&other) && !other.reaches(&one));
        assert!(one.max(&other).reaches(&one) && one.max(&other).reaches(&other));
        assert_eq!(one.max(&other).to_string(), "3-5-1");
        assert_eq!((at("17").expect("reads").as_number(), one.as_number()), (Some(17), None));
        for wrong in ["", "-", "1-", "-1", "+1", "1--1", "x", "1 ", "1.5"] {
            assert!(at(wrong).is_err(), "{wrong}");
        }
    }
}

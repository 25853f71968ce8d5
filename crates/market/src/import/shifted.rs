//! Checks whether publication times are plausible. A feed that is read in the wrong time zone shows every
//! item hours too early or too late, and an item that is shown too early is look-ahead. Nothing is changed;
//! suspicious times are only reported.

use super::problem::Problems;
use jiff::tz::TimeZone;
use papertape_core::time::{Date, Timestamp};

/// Fewer items are not representative of a feed.
const MIN_ITEMS: usize = 20;
/// The hours, at the exchange, in which most items are published.
const WAKING: std::ops::Range<usize> = 6..21;
/// With a smaller share within these hours, times look shifted; with a share above the second limit, a shift
/// explains it.
const SUSPECT_PERCENT: usize = 55;
const EXPLAINED_PERCENT: usize = 85;

/// Notes about the items' publication times.
pub(super) fn notes(published: &[Timestamp], zone: &TimeZone) -> Vec<String> {
    let count = published.len();
    if count < MIN_ITEMS {
        return Vec::new();
    }
    let mut notes = Vec::new();
    let zone_name = zone.iana_name().unwrap_or("the exchange's zone");
    let is_midnight = |at: &&Timestamp| at.as_second().rem_euclid(86_400) == 0 && at.subsec_nanosecond() == 0;
    let midnights = published.iter().filter(is_midnight).count();
    if midnights * 2 > count {
        notes.push(format!(
            "{midnights} of {count} publication times are midnight UTC: they look like dates, and an item would be \
             shown before it was published; give such a date without a time, and it counts from the end of its day"
        ));
        return notes;
    }
    let mut by_hour = [0_usize; 24];
    for at in published {
        let hour = at.to_zoned(zone.clone()).hour();
        by_hour[usize::from(hour.unsigned_abs()) % 24] += 1;
    }
    let within = |shift: usize| WAKING.map(|hour| by_hour[(hour + shift) % 24]).sum::<usize>();
    let now = within(0);
    if now * 100 >= count * SUSPECT_PERCENT {
        return notes;
    }
    let best = (1..24).max_by_key(|shift| (within(*shift), std::cmp::Reverse((*shift).min(24 - *shift))));
    if let Some(shift) = best.filter(|shift| within(*shift) * 100 >= count * EXPLAINED_PERCENT) {
        let (hours, way) = if shift <= 12 { (shift, "late") } else { (24 - shift, "early") };
        notes.push(format!(
            "publication times look shifted: {now} of {count} lie between {:02}:00 and {:02}:00 in {zone_name}, and \
             {} would if they were some {hours} hours too {way}; give times with their offset, or the zone with --zone",
            WAKING.start,
            WAKING.end,
            within(shift),
        ));
    }
    notes
}

/// Figures whose publication time precedes the end of the period that they describe.
#[derive(Default)]
pub(super) struct Foreknown(Problems);

impl Foreknown {
    pub(super) fn check(&mut self, what: &str, period: Date, published_at: Timestamp, zone: &TimeZone) {
        if published_at.to_zoned(zone.clone()).date() < period {
            let place = format!("{what}, {period}");
            self.0.add(
                place,
                "a figure is published before its period is over: its publication time looks shifted",
            );
        }
    }

    pub(super) fn notes(self) -> impl Iterator<Item = String> {
        self.0.into_list().into_iter().map(|problem| problem.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::ToSpan as _;

    fn feed(shift_hours: i64) -> Vec<Timestamp> {
        let first: Timestamp = "2024-03-04T12:05:00Z".parse().expect("a time");
        (0..60_i64)
            .map(|n| first + (n * 97 % 720).minutes() + (24 * (n / 6)).hours() + shift_hours.hours())
            .collect()
    }

    #[test]
    fn a_feed_that_is_hours_off_is_noted() {
        let zone = TimeZone::get("America/New_York").expect("a zone");
        assert!(notes(&feed(0), &zone).is_empty());
        let told = notes(&feed(13), &zone);
        assert!(told.len() == 1 && told[0].contains("look shifted"), "{told:?}");
        assert!(notes(&feed(13)[..19], &zone).is_empty(), "too few to say");
        let midnights: Vec<Timestamp> = (0..30).map(|n| Timestamp::UNIX_EPOCH + (24 * n).hours()).collect();
        assert!(notes(&midnights, &zone)[0].contains("midnight UTC"));
    }

    #[test]
    fn a_figure_known_too_early_is_noted() {
        let mut early = Foreknown::default();
        let at = "2024-03-04T12:05:00Z".parse().expect("a time");
        early.check("IBM revenue", Date::constant(2024, 3, 31), at, &TimeZone::UTC);
        early.check("IBM revenue", Date::constant(2023, 12, 31), at, &TimeZone::UTC);
        let told: Vec<String> = early.notes().collect();
        assert!(told.len() == 1 && told[0].starts_with("IBM revenue, 2024-03-31: "), "{told:?}");
    }
}

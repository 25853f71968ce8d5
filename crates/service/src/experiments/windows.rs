//! Windows of trading days: they do not overlap, and are evenly spaced over a range.

use papertape_core::time::Date;
use papertape_protocol::experiments::Window;

/// `count` windows of `days` of these trading days. The first starts on the first day, the last ends on the last one,
/// and the gaps between them differ by at most one day. A single window starts on the first day.
///
/// # Errors
/// They do not fit: the message says how many days are needed, and which numbers fit.
pub(super) fn windows(dates: &[Date], count: u32, days: u32) -> Result<Vec<Window>, String> {
    let (wanted, length) = (u64::from(count), u64::from(days));
    let available = dates.len() as u64;
    if wanted == 0 || length == 0 {
        return Err("give at least one window of at least one trading day".to_owned());
    }
    let needed = wanted * length;
    let Some(free) = available.checked_sub(needed) else {
        return Err(format!(
            "{count} windows of {days} trading days need {needed} days, but the range has {available}: {} of {days} \
             days fit, or {count} of {} days",
            available / length,
            available / wanted
        ));
    };
    let start = |number: u64| match wanted {
        1 => 0,
        wanted => number * length + number * free / (wanted - 1),
    };
    let window = |number: u64| {
        let first = usize::try_from(start(number)).ok()?;
        let last = first.checked_add(usize::try_from(length).ok()?)?.checked_sub(1)?;
        Some(Window { start_date: *dates.get(first)?, end_date: *dates.get(last)?, days })
    };
    (0..wanted)
        .map(window)
        .collect::<Option<_>>()
        .ok_or_else(|| "the windows do not fit the range".to_owned())
}

#[cfg(test)]
mod tests {
    use super::windows;
    use papertape_core::time::Date;
    use proptest::prelude::*;

    fn dates(count: usize) -> Vec<Date> {
        // Weekdays: neighbors in the list are not always neighbors in the calendar.
        let first = jiff::civil::date(2012, 1, 2);
        let all = (0..).map(|day| first + jiff::SignedDuration::from_hours(24 * day));
        all.filter(|date| date.weekday().to_monday_one_offset() < 6).take(count).collect()
    }

    proptest! {
        /// Goal: windows have the requested length, lie in the range in order without overlap, begin and end with it,
        /// and their gaps differ by at most one day; what cannot fit is an error, and nothing else is.
        #[test]
        fn windows_are_disjoint_and_evenly_spaced(available in 0_usize..400, count in 1_u32..12, days in 1_u32..90) {
            let dates = dates(available);
            let at = |date: Date| dates.binary_search(&date).expect("a day of the range");
            match windows(&dates, count, days) {
                Err(message) => {
                    prop_assert!(available < (count * days) as usize, "{}", message);
                }
                Ok(found) => {
                    prop_assert!(available >= (count * days) as usize);
                    prop_assert_eq!(found.len(), count as usize);
                    for window in &found {
                        prop_assert_eq!(at(window.end_date) + 1 - at(window.start_date), days as usize);
                    }
                    let gaps: Vec<usize> = found
                        .windows(2)
                        .map(|pair| at(pair[1].start_date).checked_sub(at(pair[0].end_date) + 1).expect("no overlap"))
                        .collect();
                    prop_assert_eq!(at(found[0].start_date), 0);
                    if let (Some(min), Some(max)) = (gaps.iter().min(), gaps.iter().max()) {
                        prop_assert!(max - min <= 1, "{:?}", gaps);
                        prop_assert_eq!(at(found[count as usize - 1].end_date), available - 1);
                    }
                }
            }
        }
    }

    /// Goal: the error says what is needed, what is there, and what fits.
    #[test]
    fn windows_that_do_not_fit_say_what_does() {
        let error = windows(&dates(250), 5, 60).expect_err("300 days");
        assert_eq!(
            error,
            "5 windows of 60 trading days need 300 days, but the range has 250: 4 of 60 days fit, or 5 of 50 days"
        );
    }
}

//! Trading hours follow the exchange's time zone, independent of the machine's zone files.

use jiff::civil::time;
use papertape_core::market::{BuildError, Dataset, DatasetBuilder, TradingHours};
use papertape_core::time::{Date, Timestamp};

#[track_caller]
fn check(date: &str, open: &str, close: &str) {
    let date: Date = date.parse().expect("a date");
    let day = TradingHours::us_equity().day(date).expect("a day");
    let at = |clock: &str| -> Timestamp { format!("{date}T{clock}:00Z").parse().expect("instant") };
    assert_eq!((day.date, day.open, day.close), (date, at(open), at(close)), "{date}");
}

// Goal: NYSE hours in UTC on both sides of the clock changes, before and after the law of 2007.
#[test]
fn new_york_hours_follow_daylight_saving_time() {
    check("2000-03-01", "14:30", "21:00");
    check("2006-03-13", "14:30", "21:00");
    check("2006-03-31", "14:30", "21:00");
    check("2006-04-03", "13:30", "20:00");
    check("2006-10-27", "13:30", "20:00");
    check("2006-10-30", "14:30", "21:00");
    check("2007-03-09", "14:30", "21:00");
    check("2007-03-12", "13:30", "20:00");
    check("2007-11-02", "13:30", "20:00");
    check("2007-11-05", "14:30", "21:00");
    check("2024-03-08", "14:30", "21:00");
    check("2024-03-11", "13:30", "20:00");
}

// Goal: other exchanges' hours work, and an unknown zone is rejected by name.
#[test]
fn any_zone_of_the_database_has_hours() {
    let shanghai = TradingHours::new("Asia/Shanghai", time(9, 30, 0, 0), time(15, 0, 0, 0)).expect("a zone");
    let day = shanghai.day(Date::constant(2024, 7, 1)).expect("a day");
    assert_eq!(day.open, "2024-07-01T01:30:00Z".parse::<Timestamp>().expect("instant"));
    let error = TradingHours::new("Mars/Olympus", time(9, 0, 0, 0), time(10, 0, 0, 0));
    let error = error.expect_err("no such zone");
    assert_eq!(error, BuildError::Zone { zone: "Mars/Olympus".into() });
}

fn of_days(days: &[&str]) -> Dataset {
    let mut builder = DatasetBuilder::new("calendar", TradingHours::US_ZONE);
    let hours = TradingHours::us_equity();
    for date in days {
        builder.day(hours.day(date.parse().expect("a date")).expect("a day")).expect("it is new");
    }
    builder.build().expect("a dataset")
}

// Goal: the next trading day is the calendar's; after the calendar's end it follows from the weekdays on
// which the exchange has recently traded, weekends included.
#[test]
fn the_next_trading_day_is_the_calendars() {
    let next =
        |days: &[&str], date: &str| of_days(days).next_trading_day(date.parse().expect("a date")).to_string();
    let week =
        ["2012-10-15", "2012-10-22", "2012-10-23", "2012-10-24", "2012-10-25", "2012-10-26", "2012-10-31"];
    assert_eq!(next(&week, "2012-10-25"), "2012-10-26");
    assert_eq!(next(&week, "2012-10-26"), "2012-10-31", "the storm is in the calendar");
    assert_eq!(next(&week, "2012-10-31"), "2012-11-01", "behind the end");
    assert_eq!(next(&week[..6], "2012-10-26"), "2012-10-29", "over the weekend");
    let always =
        ["2024-03-01", "2024-03-02", "2024-03-03", "2024-03-04", "2024-03-05", "2024-03-06", "2024-03-07"];
    assert_eq!(next(&always, "2024-03-08"), "2024-03-09");
    assert_eq!(next(&always[..1], "2024-03-01"), "2024-03-02", "one day says nothing of the others");
}

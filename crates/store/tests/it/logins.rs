//! Browser logins, on both databases.

use crate::desk::at;
use crate::places::{Place, on_both};

on_both!(a_login_lasts_its_time);

/// Goal: a login is valid until it expires, for other processes too, and ends when it is ended; the number of
/// logins is limited, and those that expire last are kept.
async fn a_login_lasts_its_time(place: Place) {
    let store = place.store().await;
    store.add_login("cookie", "token", (at(0), at(100)), 3).await.expect("writes");
    let known = async |cookie: &str, now: i64| store.login(cookie, at(now)).await.expect("reads");
    assert_eq!(known("cookie", 99).await.as_deref(), Some("token"));
    assert_eq!(known("cookie", 100).await, None, "its time is over");
    assert_eq!(known("token", 1).await, None, "a token is no cookie");
    store.end_login("cookie").await.expect("writes");
    store.end_login("cookie").await.expect("twice is once");
    assert_eq!(known("cookie", 1).await, None);
    for n in 1..=5 {
        store.add_login(&format!("c{n}"), "token", (at(n), at(100 + n)), 3).await.expect("writes");
    }
    let mut left = Vec::new();
    for n in 1..=5 {
        left.push(known(&format!("c{n}"), 6).await.is_some());
    }
    assert_eq!(left, [false, false, true, true, true]);
    assert!(store.add_login("c5", "token", (at(6), at(200)), 3).await.is_err(), "a cookie is one login's");
}

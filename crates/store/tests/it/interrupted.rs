//! Equality: a job that was interrupted anywhere and resumed leaves the same record as an uninterrupted one.

use crate::desk::{export, run_job};
use crate::places::{Place, on_both};
use papertape_core::id::JobId;

on_both!(a_run_cut_off_anywhere_equals_one_that_ran_through);

async fn a_run_cut_off_anywhere_equals_one_that_ran_through(place: Place) {
    let store = place.store().await;
    run_job(&store, "whole", &["momentum"], &[]).await;
    let whole = export(&store, "whole").await;
    assert!(whole.lines().count() > 40, "the export is too short:\n{whole}");
    // Nothing in it may differ between the databases.
    let other_place = Place::sqlite();
    let elsewhere = other_place.store().await;
    run_job(&elsewhere, "another name", &["momentum"], &[3]).await;
    assert_eq!(whole, export(&elsewhere, "another name").await);

    let mut interrupted = 0;
    for cut in 0..14 {
        let job = format!("cut-{cut}");
        run_job(&store, &job, &["momentum"], &[cut, 14 - cut, 3]).await;
        let parts = export(&store, &job).await;
        let differs = whole.lines().zip(parts.lines()).find(|(left, right)| left != right);
        assert_eq!(differs, None, "cut after {cut} transactions");
        assert_eq!(whole, parts, "cut after {cut} transactions");
        let report = store.verify_chain(&JobId::new(&job)).await.expect("verifies");
        assert_eq!(report.broken, None, "cut after {cut} transactions");
        interrupted += store.interrupted_attempts(&JobId::new(&job)).await.expect("counts");
    }
    assert!(interrupted > 0, "no call was ever cut off: the test does not test");
}

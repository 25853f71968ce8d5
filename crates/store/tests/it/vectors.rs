//! Vectors of reflections, on both databases.

use crate::desk::{at, commit};
use crate::memory::{reflection, with_reflections};
use crate::places::{Place, on_both};
use papertape_core::ports::RecordStore as _;
use papertape_core::record::{EmbeddingRow, Write};
use papertape_store::{MemoryFilter, StoredVector, TradeFilter, VectorFor};

on_both!(vectors_are_kept_and_replaced, filters_come_before_the_search,);

fn vector(reflection: i64, model: &str, bytes: &[u8]) -> VectorFor {
    VectorFor { reflection, model: model.to_owned(), vector: bytes.to_vec() }
}

/// A vector is stored with its session or separately, is read back bit for bit, and replaces another model's; an
/// invalid one, or one of no reflection, is rejected with everything in its batch; no chain covers vectors.
async fn vectors_are_kept_and_replaced(place: Place) {
    let (store, lease, session) = with_reflections(&place).await;
    let own = EmbeddingRow { trade_id: 2, model: "lab::small".to_owned(), vector: vec![0, 0, 128, 63] };
    store.commit(commit(&lease, session, vec![Write::Vector(own.clone())])).await.expect("keeps");
    let ids = store.trade_ids(&TradeFilter::default()).await.expect("reads");
    let [fifth, _, third, second, _] = ids[..] else { panic!("five: {ids:?}") };
    store
        .store_vectors(vec![vector(third, "lab::small", &[1; 8]), vector(fifth, "lab::large", &[2; 4])])
        .await
        .expect("keeps");
    assert_eq!(store.count_vectors("lab::small").await.expect("counts"), 2);
    let found = store.vectors_after("lab::small", 0, 9).await.expect("reads");
    let told: Vec<(i64, &[u8])> = found.iter().map(|found| (found.reflection, &found.vector[..])).collect();
    assert_eq!(told, [(second, &own.vector[..]), (third, &[1; 8][..])]);
    assert_eq!(store.vectors_after("lab::small", found[0].id, 1).await.expect("reads"), found[1..]);

    // Another model's vector replaces it, with a greater ID.
    store.store_vectors(vec![vector(second, "lab::large", &[3; 4])]).await.expect("keeps");
    assert_eq!(store.count_vectors("lab::small").await.expect("counts"), 1);
    let large = store.vectors_after("lab::large", 0, 9).await.expect("reads");
    assert!(
        large.last().is_some_and(|last: &StoredVector| last.reflection == second && last.id > found[1].id)
    );

    for bad in [vector(third, "m", &[]), vector(third, "m", &[1; 5]), vector(-1, "m", &[1; 4])] {
        store.store_vectors(vec![vector(fifth, "m", &[1; 4]), bad]).await.expect_err("is refused");
    }
    assert_eq!(store.count_vectors("m").await.expect("counts"), 0, "all or nothing");
    let nobodys = EmbeddingRow { trade_id: 99, ..own };
    store.commit(commit(&lease, session, vec![Write::Vector(nobodys)])).await.expect_err("is refused");

    let without = store.trades_without_vector(&MemoryFilter::default(), "lab::large", 0, 9).await;
    let without: Vec<u64> = without.expect("reads").iter().map(|item| item.row.trade_id).collect();
    assert_eq!(without, [1, 3, 4]);
    let rest = store.trades_without_vector(&MemoryFilter::default(), "lab::large", third, 9).await;
    assert_eq!(rest.expect("reads").len(), 1);
    place.edit("UPDATE reflection_vectors SET vector = vector").await;
    assert_eq!(store.verify_chain(&lease.job).await.expect("verifies").broken, None);
}

/// Any query returns only IDs that match the filters, including the instant; each word has its own; and rows are
/// returned in the order of the requested IDs.
async fn filters_come_before_the_search(place: Place) {
    let (store, ..) = with_reflections(&place).await;
    let all = store.trade_ids(&TradeFilter::default()).await.expect("reads");
    for seconds in (0..700).step_by(50) {
        let filter = TradeFilter { known_by: Some(at(seconds)), ..TradeFilter::default() };
        let ids = store.trade_ids(&filter).await.expect("reads");
        let words = store.trade_ids_by_word(&filter, "breakout lesson3 nowhere").await.expect("reads");
        let known = |id: &i64| {
            let n = all.len() - all.iter().position(|other| other == id).expect("is one of all");
            reflection(n as u64).known_at <= at(seconds)
        };
        assert!(ids.iter().all(known), "by {seconds}");
        assert!(words.iter().flatten().all(known), "by {seconds}");
        assert_eq!(ids.len(), (1..=5).filter(|n| reflection(*n).known_at <= at(seconds)).count());
        // Words are returned in their own order.
        let counts: Vec<usize> = words.iter().map(Vec::len).collect();
        assert_eq!(counts, [ids.len(), usize::from(seconds >= 390), 0], "by {seconds}");
    }
    let wanted = [all[3], all[0], -5, all[1]];
    let rows = store.trades_by_id(&wanted).await.expect("reads");
    assert_eq!(rows.iter().map(|item| item.id).collect::<Vec<_>>(), [all[3], all[0], all[1]]);
    assert_eq!(rows[1].row, reflection(5));
    assert!(store.trades_by_id(&[]).await.expect("reads").is_empty());
}

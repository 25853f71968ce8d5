//! A serialized vector is the same vector when it is read back.

use papertape_embed::vector::{
    dot, from_base64, from_bytes, from_json, normalize, to_base64, to_bytes, to_json,
};
use proptest::prelude::*;

proptest! {
    /// Goal: bytes, base64 and JSON are read back bit for bit.
    #[test]
    fn what_is_written_is_read(vector in prop::collection::vec(-1.0_f32..1.0, 1..50)) {
        prop_assert_eq!(from_bytes(&to_bytes(&vector)), Some(vector.clone()));
        prop_assert_eq!(from_base64(&to_base64(&vector)), Some(vector.clone()));
        prop_assert_eq!(from_json(&to_json(std::slice::from_ref(&vector)), 1), Ok(vec![vector]));
    }

    /// Goal: a vector with a direction is scaled to length 1 and keeps its direction.
    #[test]
    fn length_becomes_one(mut vector in prop::collection::vec(-1e20_f32..1e20, 1..50)) {
        let before = vector.clone();
        let done = normalize(&mut vector);
        prop_assert_eq!(done, before.iter().any(|value| value.abs() > 0.0));
        if done {
            prop_assert!((dot(&vector, &vector) - 1.0).abs() < 1e-4);
            prop_assert!(vector.iter().zip(&before).all(|(after, before)| after * before >= 0.0));
        }
    }
}

/// Goal: a vector without a direction, or text that is not a list of vectors of one dimension, is reported.
#[test]
fn what_is_no_vector_is_told() {
    for mut vector in [vec![], vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![f32::INFINITY, 1.0]] {
        assert!(!normalize(&mut vector), "{vector:?}");
    }
    assert_eq!(from_bytes(&[1, 2, 3]), None);
    assert_eq!(from_base64("%"), None);
    for (text, count) in
        [("[[1.0]]", 2), ("[[1.0],[1.0,2.0]]", 2), ("[[]]", 1), ("nothing", 1), ("[[null]]", 1)]
    {
        assert!(from_json(text, count).is_err(), "{text}");
    }
}

/// Goal: the layout in a database is little-endian 32-bit floats, on every machine.
#[test]
fn bytes_are_little_endian() {
    assert_eq!(to_bytes(&[1.0, -2.0]), [0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]);
}

//! One vector: its length, its dot product, and its serialized forms.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Number of accumulators, which the compiler keeps in vector registers.
const LANES: usize = 16;

/// The dot product; for unit vectors, the cosine of their angle. The order of the additions is fixed, so the
/// result is the same on every machine. Ignores the excess elements of the longer vector.
#[must_use]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// Scales the vector to length 1. Returns `false` and leaves the vector unchanged if it has no direction: all
/// zeros, or a number that is not finite.
#[must_use]
pub fn normalize(vector: &mut [f32]) -> bool {
    let square: f64 = vector.iter().map(|value| f64::from(*value) * f64::from(*value)).sum();
    let length = square.sqrt();
    if !length.is_finite() || length <= f64::from(f32::MIN_POSITIVE) {
        return false;
    }
    for value in vector {
        *value = (f64::from(*value) / length) as f32;
    }
    true
}

/// Little-endian bytes, four per number: the form in a database.
#[must_use]
pub fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The inverse of [`to_bytes`]; `None` if the length is not a multiple of four.
#[must_use]
pub fn from_bytes(bytes: &[u8]) -> Option<Vec<f32>> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    rest.is_empty().then(|| numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
}

/// [`to_bytes`] in base64: the form in a document.
#[must_use]
pub fn to_base64(vector: &[f32]) -> String {
    STANDARD.encode(to_bytes(vector))
}

/// The inverse of [`to_base64`].
#[must_use]
pub fn from_base64(text: &str) -> Option<Vec<f32>> {
    from_bytes(&STANDARD.decode(text).ok()?)
}

/// Vectors as JSON, each number with as many decimals as needed to read back the same number.
#[must_use]
pub fn to_json(vectors: &[Vec<f32>]) -> String {
    serde_json::to_string(vectors).unwrap_or_default()
}

/// The inverse of [`to_json`]: exactly `count` unit vectors of one dimension.
///
/// # Errors
/// Returns a message that says what is wrong.
pub fn from_json(text: &str, count: usize) -> Result<Vec<Vec<f32>>, String> {
    let vectors: Vec<Vec<f32>> =
        serde_json::from_str(text).map_err(|error| format!("it is no list of vectors: {error}"))?;
    if vectors.len() != count {
        return Err(format!("{count} vectors were asked for, {} came", vectors.len()));
    }
    let dimension = vectors.first().map_or(0, Vec::len);
    if vectors.iter().any(|vector| vector.len() != dimension || vector.is_empty()) {
        return Err("the vectors are empty or differ in their dimension".to_owned());
    }
    Ok(vectors)
}

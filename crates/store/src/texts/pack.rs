//! Texts in compressed form. Most are short JSON documents: what repeats from one to the next is in a dictionary,
//! and the hashes that they refer to, which cannot be compressed, are stored as bytes instead of digits.
//!
//! A packed text is, in this order:
//!
//! 1. the number of extracted hashes, in one byte;
//! 2. the hashes, 32 bytes each;
//! 3. a zstd frame of the text without its magic number, compressed with the dictionary. Each extracted hash is
//!    replaced by [`MARK`].
//!
//! `scripts/train-dictionary.sh` trains a dictionary. One that databases were written with is never changed: a new
//! one gets the next number, and an encoding of its own.

use crate::error::{Result, StoreError};
use papertape_core::id::ContentHash;
use std::cell::RefCell;
use std::sync::LazyLock;
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};
use zstd::zstd_safe::get_frame_content_size;

/// Trained on the documents of house models' runs on the bundled data.
const DICTIONARY: &[u8] = include_bytes!("dictionary-1.zdict");
/// Higher levels take longer and save little on short texts.
const LEVEL: i32 = 3;
/// Shorter texts are not worth it.
const MIN_BYTES: usize = 64;
/// Longer texts stay plain. A packed text that claims to be longer was not written by us, and is not unpacked.
const MAX_BYTES: usize = 4 << 20;
/// Replaces an extracted hash. A text that contains it has none extracted.
const MARK: u8 = 1;
/// Digits of a hash.
const DIGITS: usize = 64;
/// The first bytes of every zstd frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

static ENCODER: LazyLock<EncoderDictionary<'static>> =
    LazyLock::new(|| EncoderDictionary::copy(DICTIONARY, LEVEL));
static DECODER: LazyLock<DecoderDictionary<'static>> = LazyLock::new(|| DecoderDictionary::copy(DICTIONARY));

thread_local! {
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = RefCell::new(compressor().ok());
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> =
        RefCell::new(Decompressor::with_prepared_dictionary(&DECODER).ok());
}

fn compressor() -> std::io::Result<Compressor<'static>> {
    let mut compressor = Compressor::with_prepared_dictionary(&ENCODER)?;
    compressor.include_dictid(false)?;
    compressor.include_checksum(false)?;
    compressor.include_contentsize(true)?;
    Ok(compressor)
}

/// The packed form of a text; `None` if it stays plain.
pub(super) fn pack(text: &str) -> Option<Vec<u8>> {
    if !(MIN_BYTES..=MAX_BYTES).contains(&text.len()) {
        return None;
    }
    let (hashes, rest) = extract(text);
    let frame = COMPRESSOR.with_borrow_mut(|compressor| compressor.as_mut()?.compress(&rest).ok())?;
    let body = frame.strip_prefix(&MAGIC)?;
    let mut packed = Vec::with_capacity(1 + hashes.len() * 32 + body.len());
    packed.push(u8::try_from(hashes.len()).ok()?);
    for hash in &hashes {
        packed.extend_from_slice(hash.as_bytes());
    }
    packed.extend_from_slice(body);
    (packed.len() < text.len()).then_some(packed)
}

/// The text of a packed form.
pub(super) fn unpack(packed: &[u8]) -> Result<String> {
    read(packed).ok_or_else(|| StoreError::inconsistent("a compressed text cannot be read"))
}

fn read(packed: &[u8]) -> Option<String> {
    let (count, rest) = packed.split_first()?;
    let (hashes, body) = rest.split_at_checked(usize::from(*count) * 32)?;
    let frame = [&MAGIC, body].concat();
    let length = usize::try_from(get_frame_content_size(&frame).ok()??).ok()?;
    if length > MAX_BYTES {
        return None;
    }
    let bytes = DECOMPRESSOR
        .with_borrow_mut(|decompressor| decompressor.as_mut()?.decompress(&frame, length).ok())?;
    String::from_utf8(if *count == 0 { bytes } else { insert(&bytes, hashes)? }).ok()
}

/// Replaces the text's hashes, up to 255 of them.
fn extract(text: &str) -> (Vec<ContentHash>, Vec<u8>) {
    let bytes = text.as_bytes();
    if bytes.contains(&MARK) {
        return (Vec::new(), bytes.to_vec());
    }
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let (mut hashes, mut rest) = (Vec::new(), Vec::with_capacity(bytes.len()));
    for run in bytes.chunk_by(|left, right| is_digit(left) == is_digit(right)) {
        let hash =
            match run.len() == DIGITS && run.iter().all(is_digit) && hashes.len() < usize::from(u8::MAX) {
                true => std::str::from_utf8(run).ok().and_then(ContentHash::from_hex),
                false => None,
            };
        match hash {
            Some(hash) => {
                hashes.push(hash);
                rest.push(MARK);
            }
            None => rest.extend_from_slice(run),
        }
    }
    (hashes, rest)
}

/// Puts the hashes back; `None` if there are not as many as marks.
fn insert(bytes: &[u8], hashes: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::with_capacity(bytes.len() + hashes.len() / 32 * DIGITS);
    let mut hashes = hashes.chunks_exact(32);
    for (at, part) in bytes.split(|byte| *byte == MARK).enumerate() {
        if at > 0 {
            let hash = <[u8; 32]>::try_from(hashes.next()?).ok()?;
            whole.extend_from_slice(ContentHash::from_bytes(hash).to_hex().as_bytes());
        }
        whole.extend_from_slice(part);
    }
    hashes.next().is_none().then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use papertape_core::tape::text;
    use proptest::prelude::*;

    fn link(of: u64) -> String {
        let hash = |of: u64| text(of.to_string()).hash;
        format!("{{\"added\":[\"{}\"],\"head\":\"{}\",\"previous\":null}}", hash(of), hash(of + 1))
    }

    /// Goal: what is packed is what is read, and a link of a conversation is hardly more than its hashes.
    #[test]
    fn a_link_is_packed_to_little_more_than_its_hashes() {
        let link = link(1);
        let packed = pack(&link).expect("is packed");
        assert!(packed.len() < 2 * 32 + 24, "{} bytes of {}", packed.len(), link.len());
        assert_eq!(unpack(&packed).expect("is read"), link);
    }

    /// Goal: only runs of exactly 64 lower-case digits are taken for hashes, at most 255 of them, and a text that
    /// contains the mark is read back as it was.
    #[test]
    fn what_only_looks_like_a_hash_comes_back() {
        let many = (0..300).map(link).collect::<String>();
        let (digits, upper) = ("a1".repeat(33), "A1".repeat(32));
        for text in [many, format!("{digits} {upper}"), format!("\u{1}{}", link(3)), "\0".repeat(100)] {
            let packed = pack(&text).expect("is packed");
            assert_eq!(unpack(&packed).expect("is read"), text);
        }
    }

    /// Goal: a size that a frame claims never decides how much memory is taken, and damaged ones are errors.
    #[test]
    fn what_was_not_packed_here_is_not_unpacked() {
        let huge = vec![b'x'; MAX_BYTES + 1];
        let frame = zstd::bulk::compress(&huge, LEVEL).expect("compresses");
        let packed = [&[0], &frame[4..]].concat();
        assert!(packed.len() < 1_000);
        unpack(&packed).expect_err("is too long");
        assert!(pack(std::str::from_utf8(&huge).expect("is text")).is_none(), "and is not written either");

        let packed = pack(&link(5)).expect("is packed");
        for length in 0..packed.len() {
            unpack(&packed[..length]).expect_err("is cut short");
        }
        let mut more = packed.clone();
        more[0] = 1;
        unpack(&more).expect_err("has more hashes than it says");
    }

    proptest! {
        #[test]
        fn every_text_comes_back(words in prop::collection::vec("[a-f0-9]{60,68}|\\PC{0,40}|\u{1}", 0..12)) {
            let text = words.join(" ");
            if let Some(packed) = pack(&text) {
                prop_assert_eq!(unpack(&packed).expect("is read"), text);
            }
        }
    }
}

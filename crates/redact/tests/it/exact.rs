//! Configured credentials, in every encoding in which they travel.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use papertape_redact::{RedactError, Redactor};

/// Only the configured value can match this one: words, quotes, a slash and a non-ASCII character.
const SECRET: &str = "plain \"words\"/énough?>";

fn redactor() -> Redactor {
    Redactor::new(vec![("DESK_PHRASE".into(), SECRET.into())]).expect("long enough")
}

fn gone(text: &str) {
    let out = redactor().redact_text(text);
    assert!(out.removed >= 1, "nothing removed from {text}");
    assert!(out.value.contains("[redacted:desk_phrase]"), "{text} -> {}", out.value);
}

/// Goal: the value itself is redacted, and the text around it stays.
#[test]
fn the_value_goes_and_its_neighbours_stay() {
    let out = redactor().redact_text(&format!("before {SECRET} after"));
    assert_eq!(out.value, "before [redacted:desk_phrase] after");
    assert_eq!(out.removed, 1);
}

/// Goal: base64 of anything that contains the value, whatever precedes it.
#[test]
fn base64_goes_at_every_alignment_in_either_alphabet() {
    for before in ["", "a", "ab", "abc", "user:"] {
        for after in ["", "z", "zz"] {
            let bytes = format!("{before}{SECRET}{after}");
            for engine in [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD] {
                gone(&format!("blob={}", engine.encode(&bytes)));
            }
        }
    }
}

/// Goal: URL-encoding in upper or lower hex, in part or in full, and twice.
#[test]
fn url_encoding_goes_in_full_in_part_and_twice() {
    let full = |upper: bool, all: bool| -> String {
        SECRET
            .bytes()
            .map(|b| match b {
                b'a'..=b'z' if !all => char::from(b).to_string(),
                _ if upper => format!("%{b:02X}"),
                _ => format!("%{b:02x}"),
            })
            .collect()
    };
    for (upper, all) in [(true, true), (true, false), (false, true), (false, false)] {
        let once = full(upper, all);
        gone(&format!("https://x.example/?q={once}"));
        gone(&format!("https://x.example/?q={}", once.replace('%', "%25")));
    }
    gone(&format!("q={}", full(true, false).replace("%20", "+")));
}

/// Goal: JSON escapes, of every kind and inside one another.
#[test]
fn json_escapes_go() {
    let once = serde_json::Value::from(SECRET).to_string();
    let twice = serde_json::Value::from(once.as_str()).to_string();
    let letters: String = SECRET.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    for text in [&once, &twice, &letters, &once.replace('/', "\\/")] {
        gone(text);
        gone(&format!("a line with {text} in it"));
    }
}

/// Goal: credentials that overlap in a text are redacted together.
#[test]
fn overlapping_values_leave_no_rest() {
    let redactor =
        Redactor::new(vec![("one".into(), "abcdefghij".into()), ("two".into(), "fghijklmno".into())])
            .expect("long enough");
    assert_eq!(redactor.redact_text("-abcdefghijklmno-").value, "-[redacted:one]-");
}

/// Goal: a short credential is rejected by name; no error and no Debug output shows a value.
#[test]
fn short_values_are_refused_and_nothing_shows_a_value() {
    let error = Redactor::new(vec![("PIN".into(), "1234567".into())]).expect_err("too short");
    assert_eq!(error, RedactError::TooShort { name: "pin".into() });
    assert!(!error.to_string().contains("1234567"));
    assert!(!format!("{:?}", redactor()).contains("words"));
    let named_by_value =
        Redactor::new(vec![("correcthorse".into(), "correcthorse".into())]).expect("long enough");
    assert!(!format!("{named_by_value:?}").contains("correcthorse"));
    assert!(!named_by_value.redact_text("a correcthorse b").value.contains("correcthorse"));
}

/// Goal: a made-up placeholder cannot hide a value.
#[test]
fn a_made_up_placeholder_hides_nothing() {
    let redactor = Redactor::new(vec![("k".into(), "abcdefghij".into())]).expect("long enough");
    let out = redactor.redact_text("[redacted:abcdefghij]");
    assert_eq!(out.value, "[redacted:[redacted:k]]");
}

/// Goal: a number that is a credential is redacted too.
#[test]
fn a_number_that_is_a_credential_goes() {
    let redactor = Redactor::new(vec![("account".into(), "123456789012".into())]).expect("long");
    let out = redactor.redact_value(serde_json::json!({ "id": 123_456_789_012_u64, "n": 5 }));
    assert_eq!(out.value, serde_json::json!({ "id": "[redacted:account]", "n": 5 }));
}

//! JSON values, JSON inside strings, and truncation in the action log.

use papertape_redact::{Redacted, Redactor};
use serde_json::{Value, json};

fn redactor() -> Redactor {
    Redactor::new(vec![("exchange".into(), "q8w7e6r5t4y3".into())]).expect("long enough")
}

fn check(input: Value, expected: Value, removed: u32) {
    assert_eq!(redactor().redact_value(input), Redacted { value: expected, removed });
}

/// Goal: names are recognized in any spelling, and ordinary names are left alone.
#[test]
fn key_names_decide_whatever_their_spelling() {
    for name in [
        "api_key",
        "apiKey",
        "API-KEY",
        "X-MBX-APIKEY",
        "X-Api-Key",
        "authorization",
        "Proxy-Authorization",
        "access_token",
        "refreshToken",
        "secret",
        "clientSecret",
        "password",
        "db_password",
        "PASSWD",
        "cookie",
        "Set-Cookie",
        "private_key",
        "aws_secret_access_key",
        "APCA-API-SECRET-KEY",
        "passphrase",
        "OK-ACCESS-PASSPHRASE",
    ] {
        let out = redactor().redact_value(json!({ name: "correct horse battery" }));
        assert_eq!(out.removed, 1, "{name}");
        assert!(!out.value.to_string().contains("horse"), "{name}");
    }
    for name in [
        "max_tokens",
        "maxTokens",
        "token_count",
        "tokens",
        "total_tokens",
        "next_cursor",
        "next_page_token",
        "api_key_env",
        "token_type",
        "password_policy",
        "secret_name",
        "keyword",
        "primary_key",
        "public_key",
        "monkey",
        "author",
        "session_id",
        "key",
        "signature",
        "passed",
    ] {
        let value = json!({ name: "correct horse battery" });
        assert_eq!(redactor().redact_value(value.clone()).value, value, "{name}");
    }
}

/// Goal: everything under a secret's name is redacted; counts, flags and schemas next to it stay.
#[test]
fn objects_under_a_secret_name_are_emptied() {
    check(
        json!({ "credentials": { "login": "desk", "pin": 4821, "active": true, "expires_at": "2012-11-02" } }),
        json!({ "credentials": { "login": "[redacted:credential]", "pin": "[redacted:credential]", "active": true, "expires_at": "2012-11-02" } }),
        2,
    );
    check(
        json!({ "headers": { "X-Desk": "abc", "Content-Type": "text/plain" } }),
        json!({ "headers": { "X-Desk": "[redacted:header]", "Content-Type": "text/plain" } }),
        1,
    );
}

/// Goal: JSON in a string is redacted in place; order, spacing and digits stay.
#[test]
fn json_in_a_string_keeps_its_spelling() {
    let text = r#"got {"z": 1.10, "password" : "open sesame", "a": 12345678901234567890123} ok"#;
    let out = redactor().redact_text(text);
    assert_eq!(
        out.value,
        r#"got {"z": 1.10, "password" : "[redacted:password]", "a": 12345678901234567890123} ok"#
    );
    assert_eq!(out.removed, 1);
}

/// Goal: a name whose value is an object applies through nested strings.
#[test]
fn objects_in_nested_strings_are_emptied() {
    let inner = json!({ "credentials": { "login": "desk" } }).to_string();
    let middle = json!({ "body": inner }).to_string();
    let out = redactor().redact_value(json!({ "outer": middle }));
    assert!(!out.value.to_string().contains("desk"), "{}", out.value);
    assert_eq!(out.removed, 1);
}

/// Goal: a key that is itself a secret is redacted, and its value stays under the new name.
#[test]
fn keys_are_redacted_and_no_value_is_lost() {
    check(
        json!({ "q8w7e6r5t4y3": 1, "a q8w7e6r5t4y3": 2 }),
        json!({ "[redacted:exchange]": 1, "a [redacted:exchange]": 2 }),
        2,
    );
}

/// Goal: only the log's payload is truncated, after redaction, with a note; the rest stays complete.
#[test]
fn the_log_payload_is_cut_after_redaction() {
    let long = format!("{}q8w7e6r5t4y3{}", "é".repeat(4090), "x".repeat(100));
    let items: Vec<u32> = (0..120).collect();
    let value = json!({ "text": long, "rows": items, "short": "y".repeat(4096) });

    let whole = redactor().redact_value(value.clone());
    assert_eq!(whole.value["rows"].as_array().map(Vec::len), Some(120));

    let out = redactor().redact_log_payload(value);
    let text = out.value["text"].as_str().expect("a string");
    assert!(text.chars().count() <= 4096 && text.ends_with("characters in all]"), "{text}");
    assert!(!text.contains("q8w7"));
    let rows = out.value["rows"].as_array().expect("an array");
    assert_eq!((rows.len(), &rows[0], &rows[49]), (50, &json!(0), &json!("[cut: 120 items in all]")));
    assert_eq!(out.value["short"], "y".repeat(4096));
    assert_eq!(out.removed, 1);
    assert_eq!(redactor().redact_log_payload(out.value.clone()), Redacted { value: out.value, removed: 0 });
}

/// Goal: a value too deep to follow is replaced, not passed on.
#[test]
fn what_cannot_be_followed_is_replaced() {
    let mut value = json!("q8w7e6r5t4y3");
    for _ in 0..1000 {
        value = json!([value]);
    }
    assert_eq!(redactor().redact_value(value).value, json!("[redacted:failed]"));
}

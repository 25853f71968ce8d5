//! Properties that hold for every input.

use papertape_redact::Redactor;
use proptest::prelude::*;
use serde_json::Value;

const SECRET: &str = "zq8-w7e6/r5t4";

fn redactor() -> Redactor {
    Redactor::new(vec![("desk".into(), SECRET.into())]).expect("long enough")
}

/// Pieces that rules search for, so that arbitrary texts come close to them.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => any::<String>(),
        3 => "[ -~\\n]{0,12}",
        4 => proptest::sample::select(vec![
            SECRET, "password", "api_key", "apiKey=", "\"token\": ", "headers", ": ", "=", "\"", "'", "\\\"", "\\",
            "{", "}", "[", "]", ",", "Bearer ", "sk-abcdefgh1234567890", "eyJhbGciOi", ".", "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----", "https://u:p4ss@h", "?key=", "&", "%41", "%22", "\\u0061", "abandon ", "zoo ",
            "legal winner thank year wave sausage worth useful legal winner thank yellow", "密码：", "私钥",
            "[redacted:api_key]", "[redacted:", "]", "Cookie: a=b12345;", "Authorization: ", " is ", "hunter22", "0x", ":AA",
        ]).prop_map(str::to_owned),
    ]
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(piece(), 0..24).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((piece(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Goal: no text causes a panic, none keeps the credential, and a second pass changes nothing.
    #[test]
    fn texts_lose_the_credential_and_settle(text in text()) {
        let once = redactor().redact_text(&text);
        prop_assert!(!once.value.contains(SECRET));
        prop_assert_eq!(once.removed == 0, once.value == text);
        let twice = redactor().redact_text(&once.value);
        prop_assert_eq!(twice.removed, 0);
        prop_assert_eq!(&twice.value, &once.value);

        // A session redacts a text once, as the outcome of a step, and uses it as a message too.
        let value = redactor().redact_value(Value::from(text));
        prop_assert_eq!(value.value.as_str(), Some(once.value.as_str()));
        prop_assert_eq!(value.removed, once.removed);
    }

    /// Goal: the same for values, and for log payloads.
    #[test]
    fn values_lose_the_credential_and_settle(value in value()) {
        let once = redactor().redact_value(value.clone());
        prop_assert!(!once.value.to_string().contains(SECRET));
        let twice = redactor().redact_value(once.value.clone());
        prop_assert_eq!(twice.removed, 0);
        prop_assert_eq!(&twice.value, &once.value);

        let log = redactor().redact_log_payload(value);
        let again = redactor().redact_log_payload(log.value.clone());
        prop_assert_eq!(again.removed, 0);
        prop_assert_eq!(again.value, log.value);
    }

    /// Goal: the stream never passes on a credential, however the text is split into chunks.
    #[test]
    fn streams_lose_the_credential(parts in proptest::collection::vec(text(), 0..40)) {
        let mut stream = redactor().stream();
        let mut out = String::new();
        for part in &parts {
            out.push_str(&stream.push(part));
        }
        out.push_str(&stream.finish());
        prop_assert!(!out.contains(SECRET));
    }
}

/// Goal: a text designed to be read over and over ends quickly, and nothing of it is passed on. A pass that
/// would take minutes is aborted and the text replaced as a whole.
#[test]
fn hostile_repetitions_come_to_an_end() {
    let units = [
        "token=",
        "password=",
        "sk-",
        "hvb.",
        "KEY-",
        "pk_",
        "\\",
        "\\u005c",
        "\\/",
        "password: |\n  ",
        "password: !",
        "key: |#",
        "password:\\n ",
        "\u{430}",
        "\u{200b}",
        "abandon ",
        "zoo ",
        "{\"a\":\"\\u5bc6",
        "{\"password\":",
        "密码：",
        "api_key: \"",
        "eyJhbGciOi.",
        "https://u:",
        "bearer ",
        "Authorization: Bearer ",
        "mot de passe ",
        "secret is ",
    ];
    for unit in units {
        let text = format!("{SECRET} {}", unit.repeat(12_000 / unit.len()));
        let out = redactor().redact_text(&text);
        assert!(!out.value.contains(SECRET), "{unit:?}");
        assert_eq!(redactor().redact_text(&out.value).removed, 0, "{unit:?}");
    }
}

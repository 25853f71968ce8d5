//! Text that arrives in chunks.

use papertape_redact::Redactor;

const PROSE: &str = "The desk held its position through the close and waited for earnings. ";

fn redactor() -> Redactor {
    Redactor::new(vec![("desk".into(), "some words that are a credential".into())]).expect("long")
}

/// Streams the text in chunks of `size` characters; returns the output and the maximum held back.
fn stream(text: &str, size: usize) -> (String, usize) {
    let chars: Vec<char> = text.chars().collect();
    let mut stream = redactor().stream();
    let (mut out, mut sent, mut held) = (String::new(), 0, 0);
    for piece in chars.chunks(size) {
        let piece: String = piece.iter().collect();
        sent += piece.len();
        out.push_str(&stream.push(&piece));
        held = held.max(sent.saturating_sub(out.len()));
    }
    out.push_str(&stream.finish());
    (out, held)
}

/// Goal: the streamed output equals a redaction of the whole text, wherever the chunks end.
#[test]
fn a_stream_equals_the_whole() {
    let secrets = [
        "some words that are a credential",
        "password: Tr0ub4dor-33x",
        "{\"api_key\": \"k7f3a91b2c8d4e5f\"}",
        "legal winner thank year wave sausage worth useful legal winner thank yellow",
        "Authorization: Bearer abc123def456ghi789jkl\n",
    ];
    for secret in secrets {
        let text = format!("{}{secret} {}", PROSE.repeat(40), PROSE.repeat(40));
        let whole = redactor().redact_text(&text);
        assert_eq!(whole.removed, 1, "{secret}");
        for size in [1, 7, 64, 1000, 100_000] {
            assert_eq!(stream(&text, size).0, whole.value, "{secret} in pieces of {size}");
        }
    }
}

/// Goal: an object under a secret's name is held back whole, however much longer than the hold-back it is and
/// however deeply it is quoted; one that is never closed delays the rest for a while, but not forever.
#[test]
fn an_object_is_kept_whole() {
    let inner = format!(
        "{{\"credentials\": {{\"note\": \"{}\", \"login\": \"desk\", \"value\": \"AvstqVVPqz1z\"}}}}",
        PROSE.repeat(12)
    );
    let quoted = |text: &str| serde_json::json!({ "body": text }).to_string();
    for secret in [inner.clone(), quoted(&inner), quoted(&quoted(&inner))] {
        let text = format!("{}{secret} {}", PROSE.repeat(40), PROSE.repeat(40));
        for size in [1, 7, 64, 1000, 100_000] {
            let (out, _) = stream(&text, size);
            assert!(!out.contains("AvstqVVPqz1z") && out.ends_with(PROSE), "pieces of {size}: {out}");
        }
    }
    let text = format!("An open {{ brace. {}", PROSE.repeat(1_000));
    let (out, held) = stream(&text, 100);
    assert_eq!(out, text);
    assert!(held < 20 * 1024, "{held} bytes were held back");
}

/// Goal: no part of a secret longer than the hold-back is passed on.
#[test]
fn a_long_block_is_kept_whole() {
    let body: String = (0..60).map(|n| format!("MIIEow{n:02}{}\n", "Ab3".repeat(18))).collect();
    let begin = concat!("-----BEGIN RSA PRI", "VATE KEY-----");
    let end = concat!("-----END RSA PRI", "VATE KEY-----");
    let text = format!("{}\n{begin}\n{body}{end}\n{}", PROSE.repeat(30), PROSE.repeat(30));
    for size in [3, 50, 4096] {
        let (out, _) = stream(&text, size);
        assert!(!out.contains("MIIEow"), "{out}");
        assert!(out.contains("[redacted:pem]") && out.ends_with(PROSE));
    }
}

/// Goal: ordinary text flows on and passes unchanged.
#[test]
fn ordinary_text_flows() {
    let text = PROSE.repeat(400);
    let (out, held) = stream(&text, 5);
    assert_eq!(out, text);
    assert!(held < 2048, "{held} bytes were held back");
}

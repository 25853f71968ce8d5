//! Keys appear only in the request's header.

use crate::support::{KEY, env, gateway, gateway_at, refusing, request};
use papertape_core::ports::ModelClient as _;
use papertape_llm::{Gateway, ModelsConfig, ProviderConfig, ProviderKind};
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use std::io::Write;
use std::sync::{Arc, Mutex};
use tracing_subscriber::fmt::MakeWriter;

/// A provider that repeats the key in its error, in every form.
fn telltale() -> Vec<ScriptedAnswer> {
    let body = format!("{{\"error\":{{\"message\":\"bad key {KEY}\",\"code\":\"{KEY}\"}}}}");
    [400, 401, 429, 500]
        .map(|status| ScriptedAnswer::raw("application/json", body.clone()).status(status))
        .into_iter()
        .chain([
            ScriptedAnswer::raw("application/json", body.clone()),
            ScriptedAnswer::raw("text/plain", format!("key {KEY}")),
            ScriptedAnswer::raw("application/json", format!("{{ {KEY}")),
            ScriptedAnswer::raw("text/event-stream", format!("data: {{ {KEY}\n\n")),
            ScriptedAnswer::raw("text/event-stream", format!("data: {body}\n\n")),
        ])
        .collect()
}

#[tokio::test]
async fn no_failure_repeats_the_key() {
    for answer in telltale() {
        let server = ModelServer::scripted([answer.clone(), answer]).await;
        for stream in [true, false] {
            let failure = gateway(&server, stream).call(&request("Hello"), None).await.unwrap_err();
            assert!(!format!("{failure:?} {}", failure.failure).contains(KEY), "{failure:?}");
        }
    }
    let (_socket, url) = refusing();
    let nowhere = gateway_at(ProviderKind::OpenaiCompatible, &url, true);
    let failure = nowhere.call(&request("Hello"), None).await.unwrap_err();
    assert!(!format!("{failure:?}").contains(KEY), "{failure:?}");
}

#[tokio::test]
async fn the_gateways_debug_form_shows_no_key() {
    let server = ModelServer::scripted([]).await;
    let gateway = gateway(&server, true);
    let shown = format!("{gateway:?} {:?}", gateway.secrets());
    assert!(shown.contains("test") && !shown.contains(KEY), "{shown}");
}

/// The redactor gets the variable's name and the key as it is sent, without the line end.
#[test]
fn keys_are_there_for_the_redactor() {
    use secrecy::ExposeSecret as _;
    let provider = ProviderConfig {
        kind: Some(ProviderKind::OpenaiCompatible),
        base_url: Some("http://localhost:1/".to_owned()),
        api_key_env: Some("TEST_KEY".to_owned()),
        ..ProviderConfig::default()
    };
    let config =
        ModelsConfig { providers: [("test".to_owned(), provider)].into(), ..ModelsConfig::default() };
    let secrets = Gateway::new(&config, &crate::support::BuiltIn, &env).unwrap().secrets();
    let shown: Vec<(&str, &str)> =
        secrets.iter().map(|(name, key)| (name.as_str(), key.expose_secret())).collect();
    assert_eq!(shown, [("TEST_KEY", KEY)]);
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// The HTTP client writes log events. Even with all levels enabled, none of them appears.
#[test]
fn nothing_reaches_the_log() {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(lines.clone())
        .with_ansi(false)
        .finish();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tracing::subscriber::with_default(subscriber, || {
        runtime.block_on(async {
            for answer in telltale() {
                let server = ModelServer::scripted([answer.clone(), answer]).await;
                for stream in [true, false] {
                    let _ = gateway(&server, stream).call(&request("Hello"), None).await;
                }
            }
            tracing::info!("the subscriber hears");
        });
    });
    let heard = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(heard.contains("the subscriber hears"));
    assert!(!heard.contains(KEY), "{heard}");
}

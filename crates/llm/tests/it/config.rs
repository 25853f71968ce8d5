//! Providers, keys, and the messages of `check`.

use crate::support::{BuiltIn, KEY};
use papertape_core::message::ModelName;
use papertape_core::ports::ModelClient as _;
use papertape_llm::{Gateway, ModelsConfig, ProviderConfig, ProviderKind};
use std::io::Write as _;

fn parse(toml: &str) -> Result<ModelsConfig, String> {
    toml::from_str(toml).map_err(|error| error.to_string())
}

fn check(config: &ModelsConfig, env: &dyn Fn(&str) -> Option<String>, model: &str) -> Result<(), String> {
    let gateway = Gateway::new(config, &BuiltIn, env).map_err(|error| error.to_string())?;
    match gateway.check(&model.parse::<ModelName>()?) {
        // This depends on the machine, and is reported only when everything else is right.
        Err(why) if why.contains("no root certificates") => Ok(()),
        checked => checked,
    }
}

#[test]
fn a_config_is_read_and_strange_keys_are_refused() {
    let config = parse(
        r#"
        prices = "prices.toml"
        [providers.openai]
        api_key_env = "WORK_KEY"
        [providers.lab]
        kind = "openai_compatible"
        base_url = "http://10.0.0.7:8000/v1"
        stream = false
        "#,
    )
    .unwrap();
    assert_eq!(config.providers["lab"].kind, Some(ProviderKind::OpenaiCompatible));
    assert!(!config.providers["lab"].stream);
    assert!(config.providers["openai"].stream, "streaming is the default");
    assert!(parse("[providers.openai]\napi_key = 'sk-1'").unwrap_err().contains("unknown field `api_key`"));
    assert!(parse("retries = 3").unwrap_err().contains("unknown field `retries`"));
    assert!(parse("[providers.x]\nkind = 'skynet'").unwrap_err().contains("unknown variant `skynet`"));
}

/// The standard providers need no configuration, and name the variable that is missing.
#[test]
fn standard_providers_say_what_they_miss() {
    let config = ModelsConfig::default();
    for kind in ProviderKind::standard_kinds() {
        let checked = check(&config, &|_| None, &format!("{}::m", kind.as_str()));
        match kind.default_api_key_env() {
            Some(variable) => {
                let why = checked.unwrap_err();
                assert!(why.contains(variable) && why.contains(&format!("{variable}_FILE")), "{why}");
                assert!(why.contains(kind.as_str()), "{why}");
                let env = |name: &str| (name == variable).then(|| "k".to_owned());
                assert_eq!(check(&config, &env, &format!("{}::m", kind.as_str())), Ok(()));
            }
            None => assert_eq!(checked, Ok(())),
        }
    }
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    let config = ModelsConfig::default();
    let why = check(&config, &|_| None, "opnai::gpt-5").unwrap_err();
    assert!(why.contains("`opnai`") && why.contains("house, anthropic") && why.contains("openai"), "{why}");
    assert_eq!(check(&config, &|_| None, "house::genius").unwrap_err(), "there is no `genius`");
    assert_eq!(check(&config, &|_| None, "house::known"), Ok(()));
}

/// A key may be in a file; a missing file is named by its variable, never by its path.
#[test]
fn keys_in_files() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{KEY}").unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    let config = ModelsConfig::default();
    let env = |name: &str| (name == "OPENAI_API_KEY_FILE").then(|| path.clone());
    assert_eq!(check(&config, &env, "openai::gpt-5"), Ok(()));
    let gone = |name: &str| (name == "OPENAI_API_KEY_FILE").then(|| format!("/nowhere/{KEY}"));
    let why = check(&config, &gone, "openai::gpt-5").unwrap_err();
    assert!(why.contains("OPENAI_API_KEY_FILE") && !why.contains(KEY), "{why}");
    // The variable itself takes precedence; a blank one counts as absent.
    let blank = |name: &str| match name {
        "OPENAI_API_KEY" => Some("  ".to_owned()),
        "OPENAI_API_KEY_FILE" => Some(path.clone()),
        _ => None,
    };
    assert_eq!(check(&config, &blank, "openai::gpt-5"), Ok(()));
}

#[test]
fn providers_that_make_no_sense_are_refused() {
    let with = |name: &str, provider: ProviderConfig| {
        let config =
            ModelsConfig { providers: [(name.to_owned(), provider)].into(), ..ModelsConfig::default() };
        Gateway::new(&config, &BuiltIn, &|_| None).map(|_| ()).map_err(|error| error.to_string())
    };
    let compatible = |url: Option<&str>| ProviderConfig {
        kind: Some(ProviderKind::OpenaiCompatible),
        base_url: url.map(str::to_owned),
        ..ProviderConfig::default()
    };
    let said = |name, provider| with(name, provider).unwrap_err();
    assert_eq!(said("lab", ProviderConfig::default()), "the provider `lab` needs a `kind`");
    assert_eq!(said("lab", compatible(None)), "the provider `lab` needs a `base_url`");
    assert!(said("lab", compatible(Some("not a url"))).contains("not a URL"));
    assert!(said("lab", compatible(Some("ftp://h/"))).contains("http://"));
    assert!(said("house", compatible(Some("http://h/"))).contains("built-in"));
    let secret = said("lab", compatible(Some("https://user:pass@h/")));
    assert!(secret.contains("credentials") && !secret.contains("pass@"), "{secret}");
    assert_eq!(with("lab", compatible(Some("http://h/v1"))), Ok(()));
    assert_eq!(with("openai", ProviderConfig::default()), Ok(()), "a standard name needs no kind");
}

/// A call without a key fails with the message of `check`, and sends nothing.
#[tokio::test]
async fn a_call_without_a_key_is_unauthorised() {
    let gateway = Gateway::new(&ModelsConfig::default(), &BuiltIn, &|_| None).unwrap();
    let mut request = crate::support::request("Hello");
    request.model = "openai::gpt-5".parse().unwrap();
    let failure = gateway.call(&request, None).await.unwrap_err().failure;
    assert_eq!(failure.kind.as_str(), "unauthorised");
    assert_eq!(failure.message, gateway.check(&request.model).unwrap_err());
}

#[test]
fn only_built_in_models_have_a_version_of_ours() {
    let gateway = Gateway::new(&ModelsConfig::default(), &BuiltIn, &|_| None).unwrap();
    assert_eq!(gateway.house_version(&"house::known".parse().unwrap()), Some(7));
    assert_eq!(gateway.house_version(&"openai::gpt-5".parse().unwrap()), None);
}

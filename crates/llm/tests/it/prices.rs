//! The cost of calls.

use crate::support::BuiltIn;
use papertape_core::message::{ModelName, Usage};
use papertape_core::ports::ModelClient as _;
use papertape_llm::{Gateway, ModelsConfig, Prices, ProviderConfig, ProviderKind};
use proptest::prelude::*;
use rust_decimal::Decimal;
use std::io::Write as _;

fn name(text: &str) -> ModelName {
    text.parse().unwrap()
}

fn gateway(config: &ModelsConfig) -> Gateway {
    Gateway::new(config, &BuiltIn, &|_| None).unwrap()
}

const USAGE: Usage = Usage { input_tokens: 1_000_000, cached_tokens: 400_000, output_tokens: 100_000 };

/// gpt-4.1: 0.6 x 2 + 0.4 x 0.50 + 0.1 x 8 = 2.2.
#[test]
fn cached_tokens_cost_their_own_price() {
    let gateway = gateway(&ModelsConfig::default());
    assert_eq!(gateway.cost(&name("openai::gpt-4.1"), &USAGE), Some(Decimal::new(22, 1)));
    assert_eq!(gateway.cost(&name("openai::gpt-4.1-2025-04-14"), &USAGE), Some(Decimal::new(22, 1)));
}

#[test]
fn an_unknown_model_costs_unknown_and_a_house_model_nothing() {
    let gateway = gateway(&ModelsConfig::default());
    assert_eq!(gateway.cost(&name("openai::gpt-4.1-turbo"), &USAGE), None);
    assert_eq!(gateway.cost(&name("nowhere::gpt-4.1"), &USAGE), None);
    assert_eq!(gateway.cost(&name("house::momentum"), &USAGE), Some(Decimal::ZERO));
}

/// A renamed provider at the default base URL has its kind's prices; at another URL it has none.
#[test]
fn a_renamed_provider_keeps_its_prices() {
    let work = ProviderConfig { kind: Some(ProviderKind::Openai), ..ProviderConfig::default() };
    let elsewhere = ProviderConfig { base_url: Some("http://proxy/v1".to_owned()), ..work.clone() };
    let providers = [("work".to_owned(), work), ("elsewhere".to_owned(), elsewhere)].into();
    let gateway = gateway(&ModelsConfig { providers, ..ModelsConfig::default() });
    assert!(gateway.cost(&name("work::gpt-4.1"), &USAGE).is_some());
    assert_eq!(gateway.cost(&name("elsewhere::gpt-4.1"), &USAGE), None);
}

#[test]
fn a_file_adds_and_replaces() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(
        file,
        r#"
        [[price]]
        model = "openai::gpt-4.1"
        input = "1"
        output = "1"
        stated = "2026-11-01"
        source = "our contract"
        [[price]]
        model = "lab::m"
        input = "0.10"
        output = "0.20"
        stated = "2026-11-01"
        source = "our electricity"
        "#
    )
    .unwrap();
    let config = ModelsConfig { prices: Some(file.path().to_owned()), ..ModelsConfig::default() };
    let gateway = gateway(&config);
    // Without a separate price, cached tokens cost the full input price: 1 + 0.1.
    assert_eq!(gateway.cost(&name("openai::gpt-4.1"), &USAGE), Some(Decimal::new(11, 1)));
    assert_eq!(gateway.cost(&name("lab::m"), &USAGE), Some(Decimal::new(12, 2)));
    assert!(gateway.cost(&name("openai::gpt-5"), &USAGE).is_some(), "the built-in ones stay");
}

#[test]
fn files_that_make_no_sense_are_refused() {
    let gone = ModelsConfig { prices: Some("/nowhere/prices.toml".into()), ..ModelsConfig::default() };
    assert!(Gateway::new(&gone, &BuiltIn, &|_| None).unwrap_err().to_string().contains("cannot be read"));
    let price = |input: &str| {
        format!("[[price]]\nmodel='a::b'\ninput='{input}'\noutput='1'\nstated='2026-01-01'\nsource='s'\n")
    };
    assert!(Prices::parse(&price("1")).is_ok());
    assert!(Prices::parse(&price("-1")).unwrap_err().to_string().contains("below zero"));
    assert!(Prices::parse(&price("cheap")).is_err());
    assert!(Prices::parse(&price("1").replace("output", "outptu")).is_err());
}

/// Every built-in price states its date and source, and output costs more than input.
#[test]
fn built_in_prices_are_stated() {
    let prices = Prices::load(None).unwrap();
    assert!(prices.iter().count() > 10);
    for price in prices.iter() {
        assert!(price.stated.starts_with("202") && price.source.starts_with("https://"), "{price:?}");
        assert!(price.output > price.input && price.cached.unwrap() < price.input, "{price:?}");
    }
}

proptest! {
    /// More tokens never cost less, and cached tokens never cost more than fresh ones.
    #[test]
    fn cost_grows_with_use(input in 0..10_000_000_u64, cached in 0..10_000_000_u64, output in 0..1_000_000_u64) {
        let prices = Prices::load(None).unwrap();
        for price in prices.iter() {
            let usage = Usage { input_tokens: input, cached_tokens: cached, output_tokens: output };
            let cost = price.cost(&usage);
            prop_assert!(cost >= Decimal::ZERO);
            let uncached = price.cost(&Usage { cached_tokens: 0, ..usage });
            let longer = price.cost(&Usage { output_tokens: output + 1, ..usage });
            prop_assert!(cost <= uncached && cost <= longer);
        }
    }
}

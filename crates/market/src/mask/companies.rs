//! The entities of a dataset: its instruments, what else its items name, and well-known companies.

use super::draw::Seed;
use super::names;
use super::symbols::{self, SymbolForm};
use super::text::{Entity, Form, FormKind};
use crate::error::MarketError;
use papertape_core::id::Symbol;
use papertape_core::market::Dataset;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// Names of well-known companies by symbol.
const KNOWN: &str = include_str!("../../data/company-names.csv");

/// A row of the well-known companies.
struct Company {
    symbols: Vec<&'static str>,
    names: Vec<&'static str>,
}

/// What stands for the symbols and companies of a dataset.
pub(super) struct Companies {
    /// The masked symbol of each real one.
    pub(super) symbols: BTreeMap<Symbol, Symbol>,
    /// The masked name of each instrument.
    pub(super) names: BTreeMap<Symbol, String>,
    /// The price factor of each symbol.
    pub(super) factors: BTreeMap<Symbol, Decimal>,
    /// The factor of totals of each symbol.
    pub(super) sizes: BTreeMap<Symbol, Decimal>,
    /// All that texts may name.
    pub(super) entities: Vec<Entity>,
    /// The masked names in Latin script and in Chinese, by the core of the symbol: classes of shares have one.
    called: BTreeMap<String, (String, String)>,
}

impl Companies {
    pub(super) fn of(dataset: &Dataset, seed: Seed) -> Result<Self, MarketError> {
        let known = known();
        let real = mentioned(dataset);
        let tickers: BTreeSet<String> =
            known.iter().flat_map(|company| &company.symbols).map(|it| it.to_ascii_uppercase()).collect();
        let symbols = symbols::masked(seed, &real, &tickers).ok_or_else(|| {
            MarketError::Mask("too few free symbols of the form of the real ones".to_owned())
        })?;
        let mut taken: BTreeSet<String> =
            known.iter().flat_map(|it| &it.names).map(|it| it.to_lowercase()).collect();
        let contents = dataset.contents();
        taken
            .extend(contents.instruments().map(|instrument| names::split(&instrument.name).0.to_lowercase()));
        let mut companies = Self {
            symbols,
            names: BTreeMap::new(),
            factors: BTreeMap::new(),
            sizes: BTreeMap::new(),
            entities: Vec::new(),
            called: BTreeMap::new(),
        };
        let mut used = BTreeSet::new();
        for symbol in &real {
            let name = dataset.instrument(symbol).map_or("", |instrument| instrument.name.as_str());
            let company = known.iter().position(|company| company.is(symbol, name));
            used.extend(company);
            companies.add(seed, (symbol, name), company.map(|at| &known[at]), &mut taken);
        }
        for company in known.iter().enumerate().filter(|(at, _)| !used.contains(at)).map(|(_, it)| it) {
            let entity = company.entity(seed, &real, &mut taken);
            companies.entities.push(entity);
        }
        Ok(companies)
    }

    /// Adds a symbol, with its name in the dataset and what else it is called.
    fn add(
        &mut self,
        seed: Seed,
        (symbol, name): (&Symbol, &str),
        known: Option<&Company>,
        taken: &mut BTreeSet<String>,
    ) {
        let Some(masked) = self.symbols.get(symbol).cloned() else { return };
        let core = SymbolForm::of(symbol).core;
        let called = self
            .called
            .entry(core)
            .or_insert_with_key(|core| (names::latin(seed, core, taken), names::chinese(seed, core, taken)));
        let (latin, chinese) = called.clone();
        let mut forms = symbol_forms(symbol, &masked);
        let own = if name == symbol.as_str() { "" } else { name };
        let (_, suffix) = names::split(own);
        let texts = names::forms(own)
            .into_iter()
            .chain(known.into_iter().flat_map(|company| &company.names).map(|name| (*name).to_owned()));
        let is_symbol = |text: &str| text.eq_ignore_ascii_case(symbol.as_str());
        for text in texts.filter(|text| !text.is_empty() && !is_symbol(text)) {
            forms.push(name_form(text, &latin, &chinese));
        }
        let stand_in = if names::is_chinese(own) { &chinese } else { &latin };
        self.names.insert(symbol.clone(), format!("{stand_in}{suffix}"));
        let factor = seed.factor("price", symbol.as_str());
        let size = seed.factor("size", symbol.as_str());
        self.factors.insert(symbol.clone(), factor);
        self.sizes.insert(symbol.clone(), size);
        self.entities.push(Entity {
            symbols: vec![symbol.clone()],
            forms,
            price_factor: factor,
            size_factor: size,
        });
    }
}

impl Company {
    /// Whether an instrument is this company: by its symbol, unless it is called otherwise.
    fn is(&self, symbol: &Symbol, name: &str) -> bool {
        let is_called = |known: &&&str| {
            let (name, known) = (name.to_lowercase(), known.to_lowercase());
            name.contains(&known) || known.contains(names::split(&name).0)
        };
        self.symbols.contains(&symbol.as_str())
            && (name.is_empty()
                || name == symbol.as_str()
                || self.names.iter().any(|known| is_called(&known)))
    }

    /// The company as texts name it, without a symbol in the dataset.
    fn entity(&self, seed: Seed, real: &BTreeSet<Symbol>, taken: &mut BTreeSet<String>) -> Entity {
        let latin = names::latin(seed, self.names[0], taken);
        let chinese = names::chinese(seed, self.names[0], taken);
        let mut forms: Vec<Form> =
            self.names.iter().map(|name| name_form((*name).to_owned(), &latin, &chinese)).collect();
        let free = self.symbols.iter().map(Symbol::new).filter(|it| !real.contains(it));
        let free: BTreeSet<Symbol> = free.collect();
        let codes = symbols::masked(seed, &free, &BTreeSet::new()).unwrap_or_default();
        // A symbol that only one letter writes says nothing without its name.
        let written = codes.iter().filter(|(symbol, _)| symbol.as_str().len() > 1);
        forms.extend(written.flat_map(|(symbol, masked)| symbol_forms(symbol, masked)));
        Entity { symbols: Vec::new(), forms, price_factor: Decimal::ONE, size_factor: Decimal::ONE }
    }
}

fn known() -> Vec<Company> {
    let rows = KNOWN.lines().filter(|line| !line.starts_with('#')).skip(1);
    let company = |line: &'static str| {
        let (symbols, names) = line.split_once(',')?;
        Some(Company { symbols: symbols.split('|').collect(), names: names.split('|').collect() })
    };
    rows.filter_map(company).collect()
}

/// Every symbol that a dataset has or mentions.
fn mentioned(dataset: &Dataset) -> BTreeSet<Symbol> {
    let contents = dataset.contents();
    let mut all: BTreeSet<Symbol> = dataset.all_symbols().cloned().collect();
    all.extend(contents.news().iter().flat_map(|news| news.item.symbols.iter().cloned()));
    all.extend(contents.fundamentals().map(|figure| figure.item.symbol.clone()));
    all.extend(contents.memberships().into_iter().map(|period| period.symbol));
    all
}

fn name_form(text: String, latin: &str, chinese: &str) -> Form {
    let (masked, kind) = match names::is_chinese(&text) {
        true => (chinese, FormKind::Chinese),
        false => (latin, FormKind::Name),
    };
    Form { text, masked: masked.to_owned(), kind }
}

/// How texts write a symbol: with its exchange or currency and without.
fn symbol_forms(symbol: &Symbol, masked: &Symbol) -> Vec<Form> {
    let (real, new) = (SymbolForm::of(symbol), SymbolForm::of(masked));
    let mut texts: Vec<(String, String)> = vec![(symbol.to_string(), masked.to_string())];
    if real.is_code() {
        let kind = FormKind::Code;
        let exchanges: &[&str] = match real.core.len() {
            6 => &["SH", "SS", "SZ", "BJ"],
            _ => &["HK"],
        };
        for exchange in exchanges {
            texts.push((format!("{}.{exchange}", real.core), format!("{}.{exchange}", new.core)));
            texts.push((format!("{exchange}{}", real.core), format!("{exchange}{}", new.core)));
        }
        // A short code without an exchange is a number.
        if real.core.len() >= 5 {
            texts.push((real.core.clone(), new.core.clone()));
        }
        return texts.into_iter().map(|(text, masked)| Form { text, masked, kind }).collect();
    }
    if !real.after.is_empty() {
        texts.push((real.core.clone(), new.core.clone()));
        let letters = |text: &str| text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_owned();
        let (after, masked_after) = (letters(&real.after), letters(&new.after));
        for between in ["", ".", "-", "/", " "] {
            let (text, masked) =
                (format!("{}{between}{after}", real.core), format!("{}{between}{masked_after}", new.core));
            texts.push((text, masked));
        }
    }
    if !real.before.is_empty() {
        texts.push((format!("{}{}", real.core, real.after), format!("{}{}", new.core, new.after)));
    }
    texts.retain(|(text, _)| !text.is_empty());
    texts.into_iter().map(|(text, masked)| Form { text, masked, kind: FormKind::Ticker }).collect()
}

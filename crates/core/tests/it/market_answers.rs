//! Calls every method of a view.

use papertape_core::id::Symbol;
use papertape_core::market::{BarRange, Indicator, MarketView, ReadError, ViewRead};
use papertape_core::time::{Date, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Indicators with windows short enough to have values in a small dataset.
const INDICATORS: [&str; 8] =
    ["sma(3)", "ema(3)", "macd(2,3,2)", "rsi(3)", "bollinger(3,2)", "atr(3)", "vwma(3)", "mfi(3)"];

/// The results of all the view's methods, for these symbols and an unknown one, and for these dates, oldest
/// first. The dataset's hash is left out, so that the results of two datasets can be compared.
pub(crate) fn answers(view: &MarketView<'_>, symbols: &[Symbol], dates: &[Date]) -> Value {
    let mut out = Map::new();
    let mut put = |key: String, value: Value| out.insert(key, value);
    put("today".into(), told(view.today()));
    put("symbols".into(), told(Ok(view.symbols())));
    put("news".into(), told(view.news(None, 1_000)));
    put("macro_names".into(), view.macro_names().collect::<Vec<_>>().into());
    for name in ["CPI", "nothing"] {
        put(format!("macro/{name}"), told(view.macro_series(name)));
    }
    for date in dates {
        put(format!("actions/{date}"), told(view.actions_on(*date)));
    }
    let indicators: Vec<Indicator> =
        INDICATORS.iter().map(|text| text.parse().expect("an indicator")).collect();
    let middle = dates[dates.len() / 2];
    let nobody = Symbol::new("NOBODY");
    for symbol in symbols.iter().chain([&nobody]) {
        let mut put = |key: &str, value: Value| out.insert(format!("{symbol}/{key}"), value);
        put("instrument", told(view.instrument(symbol)));
        put("open_price", told(view.open_price(symbol)));
        put("last_close", told(view.last_close(symbol)));
        put("price", told(view.price(symbol)));
        put("today_bar", told(view.today_bar(symbol)));
        put("news", told(view.news(Some(symbol), 3)));
        put("fundamentals", told(view.fundamentals(symbol)));
        put("bars", told(view.bars(symbol, BarRange::default())));
        put("bars/newest", told(view.bars(symbol, BarRange::newest(2))));
        put("bars/from", told(view.bars(symbol, BarRange { from: Some(middle), ..all() })));
        put("bars/to", told(view.bars(symbol, BarRange { to: Some(middle), ..all() })));
        put("indicators", told(view.indicators(symbol, &indicators, 5)));
    }
    Value::Object(out)
}

/// An instant, and the instants one microsecond before and after it.
pub(crate) fn around(instant: Timestamp) -> [Timestamp; 3] {
    let micro = std::time::Duration::from_micros(1);
    [instant - micro, instant, instant + micro]
}

fn all() -> BarRange {
    BarRange::default()
}

fn told<T: Serialize>(answer: Result<ViewRead<T>, ReadError>) -> Value {
    match answer {
        Ok(read) => {
            let mut value = json!(read);
            let exposure = value["exposure"].as_object_mut().expect("an exposure");
            exposure.remove("dataset");
            value
        }
        Err(error) => json!({"error": error.code(), "message": error.to_string()}),
    }
}

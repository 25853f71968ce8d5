//! A market's rules, as far as the tools describe them.

use super::number;
use papertape_core::message::ToolSpec;
use papertape_core::prompt::lines;
use rust_decimal::Decimal;
use serde_json::Value;

/// The leverage to use, if the market allows that much.
const LEVERAGE: Decimal = Decimal::from_parts(3, 0, 0, false, 0);
/// A stop is placed where a position has lost this fraction of its margin: a tenth is the limit, and the fill
/// may slip.
const STOP_LOSS: Decimal = Decimal::from_parts(9, 0, 0, false, 2);
/// The distance of a target, as a multiple of the stop's.
const TARGET: Decimal = Decimal::TWO;
/// Decimals of a stop or a target.
const DIGITS: u32 = 8;

/// What can be traded, and under which rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Market {
    /// Quantities are multiples of it: 1 share, a lot of 100, a fraction.
    pub(super) unit: Decimal,
    /// The leverage of new positions; 1 for none.
    pub(super) leverage: Decimal,
}

/// Where a leveraged position is closed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) stop: Decimal,
    pub(super) target: Decimal,
}

impl Market {
    /// Reads the buying tool's description of its quantity and its range of leverage. Defaults to whole
    /// shares without leverage.
    pub(super) fn read(tools: &[ToolSpec]) -> Self {
        let buy = tools.iter().find(|tool| tool.name == "buy");
        let properties = buy.map_or(&Value::Null, |tool| &tool.parameters["properties"]);
        let words = properties["quantity"]["description"].as_str().unwrap_or_default();
        let stated_unit = [lines::IN_STEPS_OF, lines::IN_WHOLE_LOTS_OF]
            .into_iter()
            .find_map(|lead| words.split_once(lead)?.1.strip_prefix(' '))
            .and_then(|rest| rest.split([' ', ',', ';']).next()?.parse::<Decimal>().ok());
        let unit = stated_unit.filter(|unit| *unit > Decimal::ZERO).unwrap_or(Decimal::ONE);
        let can_stop = properties["stop"].is_object();
        let max_leverage = number::read(&properties["leverage"]["maximum"]).filter(|_| can_stop);
        let min_leverage = number::read(&properties["leverage"]["minimum"]).unwrap_or(Decimal::ONE);
        let leverage =
            max_leverage.map_or(Decimal::ONE, |max_leverage| LEVERAGE.max(min_leverage).min(max_leverage));
        Self { unit, leverage }
    }

    /// The same market, without leverage.
    pub(super) fn without_leverage(self) -> Self {
        Self { leverage: Decimal::ONE, ..self }
    }

    /// Whether the market lends, so that positions have stops and can be short.
    pub(super) fn is_leveraged(&self) -> bool {
        self.leverage > Decimal::ONE
    }

    pub(super) fn is_fractional(&self) -> bool {
        self.unit < Decimal::ONE
    }

    /// The amount rounded down to a tradable quantity.
    pub(super) fn whole(&self, amount: Decimal) -> Decimal {
        if self.unit == Decimal::ONE {
            return amount.floor();
        }
        (amount / self.unit).floor() * self.unit
    }

    /// Stop and target of a position opened at this price.
    pub(super) fn bounds(&self, price: Decimal, is_short: bool) -> Bounds {
        let distance = price * STOP_LOSS / self.leverage;
        let distance = if is_short { -distance } else { distance };
        let round = |price: Decimal| price.round_sf(DIGITS).unwrap_or(price).normalize();
        Bounds { stop: round(price - distance), target: round(price + distance * TARGET) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn d(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    fn market(quantity: &str, leverage: Option<Value>) -> Market {
        let mut properties = json!({ "quantity": { "description": quantity }, "stop": { "type": "number" } });
        if let Some(range) = leverage {
            properties["leverage"] = range;
        }
        let parameters = json!({ "properties": properties });
        Market::read(&[ToolSpec { name: "buy".to_owned(), description: String::new(), parameters }])
    }

    /// The texts are those of the real tools; any other text means whole shares without leverage.
    #[test]
    fn rules_are_read_from_the_tools() {
        let whole = Market { unit: Decimal::ONE, leverage: Decimal::ONE };
        assert_eq!(Market::read(&[]), whole);
        assert_eq!(market("whole shares, in lots of 1", None), whole);
        assert_eq!(market("shares, in whole lots of none", None), whole);
        assert_eq!(market("shares, in whole lots of 100", None).unit, d("100"));
        let fine = market("units, in steps of 0.00000001", Some(json!({ "minimum": 1, "maximum": 10 })));
        assert_eq!((fine.unit, fine.leverage), (d("0.00000001"), d("3")));
        assert!(fine.is_fractional() && fine.is_leveraged());
        assert_eq!(market("", Some(json!({ "minimum": 1, "maximum": 2 }))).leverage, d("2"));
        assert_eq!(market("", Some(json!({ "minimum": 5, "maximum": 9 }))).leverage, d("5"));
    }

    #[test]
    fn quantities_are_cut_to_what_can_be_traded() {
        let cut = |unit: &str, amount: &str| {
            Market { unit: d(unit), leverage: Decimal::ONE }.whole(d(amount)).normalize().to_string()
        };
        assert_eq!(cut("1", "98.9"), "98");
        assert_eq!(cut("100", "399.99"), "300");
        assert_eq!(cut("100", "99"), "0");
        assert_eq!(cut("0.00000001", "0.123456789"), "0.12345678");
    }

    /// A loss of 9% of the margin at the stop, twice the distance to the target, whatever the price.
    #[test]
    fn stops_lie_within_the_tenth() {
        let market = Market { unit: d("0.00000001"), leverage: d("3") };
        let long = market.bounds(d("60000"), false);
        assert_eq!((long.stop, long.target), (d("58200"), d("63600")));
        let short = market.bounds(d("0.00001"), true);
        assert_eq!((short.stop, short.target), (d("0.0000103"), d("0.0000094")));
    }
}

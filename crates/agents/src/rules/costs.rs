//! The costs of trading on a day, in sentences for an agent's prompt.

use super::Allowed;
use papertape_core::broker::{
    FeeBand, FeeBasis, FeeSchedule, FeeSide, FillTiming, InstrumentClass, MarketProfile, SlippageRule,
};
use papertape_core::time::Date;
use rust_decimal::Decimal;

/// One fee in force, or the profile's flat one.
struct Charge<'a> {
    name: &'a str,
    schedule: Option<&'a FeeSchedule>,
    band: FeeBand,
}

/// The fees in force on a day, without those that are zero.
fn charges(profile: &MarketProfile, day: Date) -> Vec<Charge<'_>> {
    let flat = &profile.fees;
    let flat = FeeBand {
        effective_from: None,
        side: FeeSide::Both,
        rate: flat.bps,
        minimum: flat.minimum.is_positive().then_some(flat.minimum),
        maximum: None,
        maximum_bps: None,
        source: None,
        approximate: false,
        unverified: false,
    };
    let scheduled = profile.fee_schedule.iter().filter_map(|schedule| {
        let band = schedule.band(day)?.clone();
        Some(Charge { name: &schedule.name, schedule: Some(schedule), band })
    });
    let all = [Charge { name: "fee", schedule: None, band: flat }].into_iter().chain(scheduled);
    all.filter(|charge| !charge.band.rate.is_zero() || charge.band.minimum.is_some()).collect()
}

/// Slippage rules that an order's fill can meet, up to the first that covers everything.
fn slippage(profile: &MarketProfile) -> Vec<(&[String], Decimal)> {
    let timing: FillTiming = profile.fill_model.into();
    let mut rules: Vec<(&[String], Decimal)> = Vec::new();
    let applicable = profile.slippage.iter().filter(|rule| rule.fill.is_none_or(|fill| fill == timing));
    for SlippageRule { symbols, bps, .. } in applicable {
        rules.push((symbols, *bps));
        if symbols.is_empty() {
            return rules;
        }
    }
    rules.push((&[], profile.slippage_bps));
    rules
}

pub(super) fn english(profile: &MarketProfile, allowed: Allowed, day: Date) -> String {
    if profile.is_frictionless() {
        return " Trading is frictionless: a fill costs no fee and no slippage.".to_owned();
    }
    let slips = slippage(profile).into_iter().map(|(symbols, bps)| match symbols {
        [] => format!("{bps} basis points"),
        named => format!("{bps} for {},", named.join(", ")),
    });
    let mut parts = vec![format!("slippage of {}", slips.collect::<Vec<_>>().join(" else "))];
    for Charge { name, schedule, band } in charges(profile, day) {
        let rate = band.rate.normalize();
        let rate = match schedule.map_or(FeeBasis::Bps, |schedule| schedule.basis) {
            FeeBasis::PerShare => format!("{rate} per share"),
            FeeBasis::Bps => format!("{rate} basis points"),
            FeeBasis::PerMillion => format!("{rate} per million of the value"),
        };
        let mut notes = Vec::new();
        match band.side {
            FeeSide::Both => {}
            FeeSide::Sale => notes.push("sales only".to_owned()),
            FeeSide::Purchase => notes.push("purchases only".to_owned()),
        }
        let class = |class: &InstrumentClass| match class {
            InstrumentClass::Fund => "funds",
            InstrumentClass::Perpetual => "perpetuals",
        };
        if let Some(schedule) = schedule {
            notes.extend(schedule.only.iter().map(|only| format!("{} only", class(only))));
            notes.extend(schedule.except.iter().map(|except| format!("not for {}", class(except))));
        }
        notes.extend(band.minimum.map(|minimum| format!("at least {minimum}")));
        notes.extend(band.maximum.map(|maximum| format!("at most {maximum}")));
        notes.extend(band.maximum_bps.map(|bps| format!("at most {}% of the value", percent(bps))));
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
        parts.push(format!("{} {rate}{notes}", english_name(name)));
    }
    let mut text = format!(" A fill costs: {}.", parts.join("; "));
    let borrow = profile.short_borrow_bps();
    // With leverage, its own sentences state the cost of borrowing.
    if allowed.shorting && !borrow.is_zero() && allowed.max_leverage <= Decimal::ONE {
        text.push_str(&format!(
            " Borrowed shares cost {} basis points per year of a short position's value, charged per calendar night.",
            borrow.normalize()
        ));
    }
    if !profile.dividend_withholding_pct.is_zero() {
        let withheld = profile.dividend_withholding_pct.normalize();
        text.push_str(&format!(" {withheld}% of dividends is withheld."));
    }
    text
}

pub(super) fn chinese(profile: &MarketProfile, allowed: Allowed, day: Date) -> String {
    if profile.is_frictionless() {
        return "交易无摩擦：不收手续费，没有滑点。".to_owned();
    }
    let slips = slippage(profile).into_iter().map(|(symbols, bps)| match symbols {
        [] => format!("{bps} 个基点"),
        named => format!("{} 为 {bps}，其余为 ", named.join("、")),
    });
    let mut parts = vec![format!("滑点 {}", slips.collect::<String>())];
    for Charge { name, schedule, band } in charges(profile, day) {
        let rate = band.rate.normalize();
        let rate = match schedule.map_or(FeeBasis::Bps, |schedule| schedule.basis) {
            FeeBasis::PerShare => format!("每股 {rate}"),
            FeeBasis::Bps => format!("成交额的 {rate} 个基点"),
            FeeBasis::PerMillion => format!("成交额每百万 {rate}"),
        };
        let mut notes = Vec::new();
        match band.side {
            FeeSide::Both => {}
            FeeSide::Sale => notes.push("仅卖出".to_owned()),
            FeeSide::Purchase => notes.push("仅买入".to_owned()),
        }
        let class = |class: &InstrumentClass| match class {
            InstrumentClass::Fund => "基金",
            InstrumentClass::Perpetual => "永续合约",
        };
        if let Some(schedule) = schedule {
            notes.extend(schedule.only.iter().map(|only| format!("仅{}", class(only))));
            notes.extend(schedule.except.iter().map(|except| format!("{}除外", class(except))));
        }
        notes.extend(band.minimum.map(|minimum| format!("至少 {minimum}")));
        notes.extend(band.maximum.map(|maximum| format!("至多 {maximum}")));
        notes.extend(band.maximum_bps.map(|bps| format!("至多成交额的 {}%", percent(bps))));
        let notes = if notes.is_empty() { String::new() } else { format!("（{}）", notes.join("，")) };
        parts.push(format!("{}{rate}{notes}", chinese_name(name)));
    }
    let mut text = format!("每笔成交的成本：{}。", parts.join("；"));
    let borrow = profile.short_borrow_bps();
    if allowed.shorting && !borrow.is_zero() && allowed.max_leverage <= Decimal::ONE {
        text.push_str(&format!("融券年费率为空头市值的 {} 个基点，按自然日隔夜数收取。", borrow.normalize()));
    }
    if !profile.dividend_withholding_pct.is_zero() {
        let withheld = profile.dividend_withholding_pct.normalize();
        text.push_str(&format!("股息预扣 {withheld}%。"));
    }
    text
}

fn english_name(name: &str) -> String {
    match name {
        "sec_fee" => "SEC fee".to_owned(),
        "finra_taf" => "FINRA TAF".to_owned(),
        other => other.replace('_', " "),
    }
}

fn chinese_name(name: &str) -> String {
    match name {
        "fee" => "手续费",
        "commission" => "佣金",
        "stamp_duty" => "印花税",
        "transfer_fee" => "过户费",
        "taker_fee" => "吃单手续费",
        "sec_fee" => "SEC 规费",
        "finra_taf" => "FINRA 交易活动费",
        own => return format!("{own} "),
    }
    .to_owned()
}

/// Basis points as percent.
fn percent(bps: Decimal) -> Decimal {
    (bps / Decimal::ONE_HUNDRED).normalize()
}

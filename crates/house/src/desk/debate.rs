//! Bull and Bear: each argues from the Market Analyst's figures, answers the other's strongest point, and
//! admits when its own case is thin.

use super::RoleRequest;
use super::figures::Figures;
use super::text;
use crate::Draft;
use papertape_core::prompt::lines;

pub(super) fn bull(asked: &RoleRequest<'_>) -> Draft {
    argue(asked, true)
}

pub(super) fn bear(asked: &RoleRequest<'_>) -> Draft {
    argue(asked, false)
}

/// The figures from the report, or those already in the debate.
fn figures(asked: &RoleRequest<'_>) -> Figures {
    let sources = [lines::MARKET_REPORT, lines::DEBATE];
    let read = sources.iter().filter_map(|source| asked.task.fence(source)).map(Figures::read);
    read.into_iter().find(|figures| !figures.is_empty()).unwrap_or_default()
}

fn argue(asked: &RoleRequest<'_>, bull: bool) -> Draft {
    let figures = figures(asked);
    let symbol = asked.task.symbol();
    if figures.is_empty() {
        let text = asked.say(
            format!(
                "There are no figures for {symbol} that my rules can argue from, so my side is untested."
            ),
            format!("没有我的规则可以引用的 {symbol} 数据，因此本方论点未经检验。"),
        );
        return Draft::text(format!("{text}\n{}", text::label(asked)));
    }
    let (rising, falling) = (text::points_for(asked, figures), text::points_against(asked, figures));
    let (own, theirs) = if bull { (rising, falling) } else { (falling, rising) };
    let other = if bull { lines::BEAR_RESEARCHER } else { lines::BULL_RESEARCHER };
    let other = format!("{other} {}", lines::ARGUMENT);
    let mut lines = Vec::new();
    if asked.task.fence(&other).is_some() {
        lines.push(match theirs.first() {
            Some(point) => asked.say(
                format!("It is true that {point}; that alone does not decide it."),
                format!("对方说得对的是：{point}；但仅此一点不足以定论。"),
            ),
            None => asked.say("The figures support none of your points.", "数据没有支持对方的论点。"),
        });
    }
    let side = match bull {
        true => asked.say("for owning", "支持持有"),
        false => asked.say("against owning", "反对持有"),
    };
    lines.push(if own.is_empty() {
        asked.say(format!("The figures make no case {side} {symbol}."), format!("数据不{side} {symbol}。"))
    } else {
        let gap = asked.say("; ", "；");
        asked.say(
            format!("My case {side} {symbol}: {}.", own.join(&gap)),
            format!("{side} {symbol} 的理由：{}。", own.join(&gap)),
        )
    });
    lines.push(asked.say(
        "A close on the other side of the 50-day average would end my case.",
        "收盘越过 50 日均线的另一侧，我的论点即告终结。",
    ));
    lines.push(figures.write());
    lines.push(text::label(asked));
    Draft::text(lines.join("\n"))
}

//! The risk debate: three views of the same proposal, based on its figures.

use super::RoleRequest;
use super::figures::Figures;
use super::text;
use crate::Draft;
use crate::number::show;
use papertape_core::prompt::lines;

/// The figures from the plan, or from the report.
pub(super) fn figures(asked: &RoleRequest<'_>) -> Figures {
    let sources = [lines::RESEARCH_PLAN, lines::MARKET_REPORT];
    let read = sources.iter().filter_map(|source| asked.task.fence(source)).map(Figures::read);
    read.into_iter().find(|figures| !figures.is_empty()).unwrap_or_default()
}

pub(super) fn aggressive(asked: &RoleRequest<'_>) -> Draft {
    draft_argument(asked, |asked, figures| match text::points_for(asked, figures).first() {
        Some(point) => asked.say(
            format!("What justifies the risk: {point}. Keep the direction and do not cut the size further."),
            format!("值得承担风险的是：{point}。保持方向，不再缩小仓位。"),
        ),
        None => asked.say(
            "Nothing in the figures justifies more risk. Leave the size as it is.",
            "数据中没有支持更大风险的内容。仓位保持不变。",
        ),
    })
}

pub(super) fn conservative(asked: &RoleRequest<'_>) -> Draft {
    draft_argument(asked, |asked, figures| {
        let points = text::points_against(asked, figures);
        match points.first() {
            Some(point) => asked.say(
                format!("What can go wrong first: {point}. Keep the stop and take the smaller step."),
                format!("首先可能出错的是：{point}。保留止损，采取较小的调整。"),
            ),
            None => asked.say(
                "The figures show no particular danger. A stop is still needed, because the price may gap.",
                "数据没有显示特别的危险。仍需止损，因为开盘可能跳空。",
            ),
        }
    })
}

pub(super) fn neutral(asked: &RoleRequest<'_>) -> Draft {
    draft_argument(asked, |asked, figures| {
        let (up, down) = (text::points_for(asked, figures).len(), text::points_against(asked, figures).len());
        asked.say(
            format!(
                "By my rules {up} points speak for it and {down} against. The proposal is right as it stands."
            ),
            format!("按我的规则，{up} 点支持，{down} 点反对。提案可以维持原样。"),
        )
    })
}

fn draft_argument(asked: &RoleRequest<'_>, say: impl Fn(&RoleRequest<'_>, Figures) -> String) -> Draft {
    let figures = figures(asked);
    let mut lines = Vec::new();
    if figures.is_empty() {
        lines.push(asked.say(
            "There are no figures that my rules can judge the proposal by.",
            "没有我的规则可以据以判断提案的数据。",
        ));
    } else {
        lines.push(say(asked, figures));
        if let Some(share) = text::daily_move(figures) {
            let share = show(share);
            lines.push(asked.say(
                format!("A normal day is {share}% of the price."),
                format!("正常一天的波动为价格的 {share}%。"),
            ));
        }
    }
    lines.push(text::label(asked));
    Draft::text(lines.join("\n"))
}

//! The page of one board.

use super::marks::{kind, note as caveat, unranked, warnings};
use super::{Site, write};
use crate::html::Html;
use crate::report::elements::{
    cell, colored, document, end, end_table, name, note, number, paragraph, section, table,
};
use crate::report::words::{NONE, Words, count, percent, ratio, share};
use papertape_protocol::compare::pair::IntervalResponse;
use papertape_protocol::leaderboard::{Board, LeaderboardEntry};

/// The page of a board.
pub(super) fn file_name(board: &Board) -> String {
    format!("board-{}.html", write::plain_name(&board.board_id))
}

/// What a board is about, in one line.
pub(super) fn title(words: Words, board: &Board) -> String {
    format!("{} · {} · {}", board.dataset, board.universe, words.period(board.start_date, board.end_date))
}

pub(super) fn page(words: Words, site: &Site, board: &Board) -> String {
    let heading = format!("{} {}", words.pick("Leaderboard", "排行榜"), title(words, board));
    document(words, &heading, |html| {
        html.raw("<header>\n<p class=\"brand\"><a href=\"index.html\">");
        html.text(words.pick("All boards", "全部排行榜")).raw("</a></p>\n<h1>");
        name(html, &title(words, board));
        html.raw("</h1>\n<dl class=\"facts\">\n");
        for (label, text) in facts(words, board) {
            html.raw("<div><dt>").text(label).raw("</dt><dd>").text(text).raw("</dd></div>\n");
        }
        html.raw("</dl>\n</header>\n");
        let entries = board.entries.as_deref().unwrap_or_default();
        ranks(html, words, board, entries);
        marks(html, words, entries);
        runs(html, words, site, entries);
    })
}

fn facts(words: Words, board: &Board) -> Vec<(&'static str, String)> {
    let hashed = |name: &str, hash: &str| format!("{name} ({})", hash.get(..16).unwrap_or(hash));
    let costs = match board.costs.as_str() {
        "frictionless" => words.pick("frictionless", "零成本"),
        _ => words.pick("with costs", "含交易成本"),
    };
    vec![
        (words.pick("Data", "数据集"), format!("{} ({})", board.dataset, board.dataset_hash)),
        (words.pick("Market", "市场"), hashed(&board.market, &board.market_hash)),
        (words.pick("Universe", "股票池"), hashed(&board.universe, &board.universe_hash)),
        (words.pick("Costs", "交易成本"), hashed(costs, &board.costs_hash)),
        (words.pick("Fill", "成交方式"), board.fill.clone()),
        (
            words.pick("Mask", "遮蔽"),
            board.mask.clone().unwrap_or_else(|| words.pick("none", "无").to_owned()),
        ),
        (words.pick("Period", "区间"), words.period(board.start_date, board.end_date)),
        (words.pick("Runs", "运行次数"), count(board.runs)),
        (words.pick("Configurations", "配置数"), count(board.configurations)),
        (words.pick("Board", "榜单编号"), board.board_id.clone()),
    ]
}

fn ranks(html: &mut Html, words: Words, board: &Board, entries: &[LeaderboardEntry]) {
    section(html, words.pick("Ranks", "名次"));
    paragraph(
        html,
        &words.pick(
            format!(
                "Entries whose ranks overlap are not distinguishable. {} entries are ranked by {} tests of all pairs, \
                 adjusted by Holm at 5%. Within equal ranks, the order says nothing.",
                board.ranked, board.tests
            ),
            format!(
                "名次区间重叠的条目无法区分。{} 个条目按两两比较（共 {} 次检验，Holm 校正，水平 5%）排名；名次相同时，先后顺序没有意义。",
                board.ranked, board.tests
            ),
        ),
    );
    let scale = scale(entries);
    table(
        html,
        &[
            (words.pick("Rank", "名次"), false),
            (words.pick("Entry", "条目"), false),
            (words.pick("Trials", "试验"), true),
            (words.pick("Return", "收益率"), true),
            (words.pick("95% interval", "95% 区间"), false),
            (words.pick("Annualized", "年化"), true),
            (words.pick("Sharpe", "夏普比率"), true),
            (words.pick("Max drawdown", "最大回撤"), true),
            (words.pick("Model cost", "模型费用"), true),
            (words.pick("Degraded", "降级占比"), true),
            (words.pick("Days", "天数"), true),
        ],
    );
    for entry in entries {
        row(html, words, entry, scale);
    }
    end_table(html);
    for code in &board.notes {
        note(html, caveat(words, code));
    }
    note(
        html,
        words.pick(
            "Returns are after trading costs and before model cost. Intervals are for days like these. Drawdowns have no \
             interval. Nothing is annualized under 60 days.",
            "收益已扣除交易成本，未扣除模型费用。区间针对与样本类似的交易日。回撤没有区间。不足 60 天不做年化。",
        ),
    );
    end(html);
}

fn row(html: &mut Html, words: Words, entry: &LeaderboardEntry, scale: Option<(f64, f64)>) {
    html.raw("<tr>");
    let rank = match (&entry.rank, &entry.unranked) {
        (Some(rank), _) if rank.best == rank.worst => rank.best.to_string(),
        (Some(rank), _) => format!("{}–{}", rank.best, rank.worst),
        (None, Some(why)) => unranked(words, why).to_owned(),
        (None, None) => NONE.to_owned(),
    };
    cell(html, &rank);
    html.raw("<td>");
    name(html, &words.item(&format!("baseline:{}", entry.label.replace(' ', "_")), &entry.label));
    html.raw("<br><span class=\"note\">").text(kind(words, entry)).raw("</span></td>");
    number(html, &entry.trials.to_string());
    match entry.total_return {
        Some(value) => colored(html, value, &percent(value)),
        None => number(html, NONE),
    }
    html.raw("<td class=\"short\">");
    match entry.interval {
        Some(bounds) => {
            drawn(html, bounds, entry.total_return.unwrap_or_default(), scale);
            html.text(format!("{} … {}", percent(bounds.low), percent(bounds.high)));
        }
        None => {
            html.text(NONE);
        }
    }
    html.raw("</td>");
    number(html, &entry.annualized_return.map_or_else(|| NONE.to_owned(), percent));
    let sharpe = entry.sharpe.map(|sharpe| {
        format!(
            "{} ({} … {})",
            ratio(sharpe.annualized),
            ratio(sharpe.interval.low),
            ratio(sharpe.interval.high)
        )
    });
    number(html, &sharpe.unwrap_or_else(|| NONE.to_owned()));
    number(html, &entry.max_drawdown.map_or_else(|| NONE.to_owned(), percent));
    let unknown = || words.pick("unknown", "未知").to_owned();
    number(html, &entry.model_cost_usd.map_or_else(unknown, |cost| format!("${cost}")));
    let degraded = entry.quality.and_then(|quality| quality.degraded_share);
    number(html, &degraded.map_or_else(|| NONE.to_owned(), share));
    number(html, &count(entry.days));
    html.raw("</tr>\n");
}

/// The lowest and the highest bound of all entries, zero included.
fn scale(entries: &[LeaderboardEntry]) -> Option<(f64, f64)> {
    let bounds = || entries.iter().filter_map(|entry| entry.interval);
    let low = bounds().map(|bounds| bounds.low).fold(0.0, f64::min);
    let high = bounds().map(|bounds| bounds.high).fold(0.0, f64::max);
    (high > low).then_some((low, high))
}

/// An interval on the scale of the board, with the point estimate and zero.
fn drawn(html: &mut Html, bounds: IntervalResponse, point: f64, scale: Option<(f64, f64)>) {
    let Some((low, high)) = scale else { return };
    let x = |value: f64| format!("{:.2}", 100.0 * (value.clamp(low, high) - low) / (high - low));
    html.raw(
        "<svg class=\"interval\" viewBox=\"0 0 100 20\" preserveAspectRatio=\"none\" aria-hidden=\"true\">",
    );
    html.raw("<path class=\"zero\" d=\"M").text(x(0.0)).raw(" 0V20\"/>");
    html.raw("<path class=\"bounds\" d=\"M").text(x(bounds.low)).raw(" 10H").text(x(bounds.high)).raw("\"/>");
    html.raw("<path class=\"point\" d=\"M").text(x(point)).raw(" 4V16\"/></svg>");
}

fn marks(html: &mut Html, words: Words, entries: &[LeaderboardEntry]) {
    let found: Vec<(&LeaderboardEntry, Vec<String>)> =
        entries.iter().map(|entry| (entry, warnings(words, entry))).collect();
    if found.iter().all(|(_, warnings)| warnings.is_empty()) {
        return;
    }
    section(html, words.pick("Warnings", "注意事项"));
    html.raw("<ul class=\"plain\">\n");
    for (entry, warnings) in found {
        for text in warnings {
            html.raw("<li><b>");
            name(html, &entry.label);
            html.raw("</b> ").text(text).raw("</li>\n");
        }
    }
    html.raw("</ul>\n");
    end(html);
}

fn runs(html: &mut Html, words: Words, site: &Site, entries: &[LeaderboardEntry]) {
    section(html, words.pick("Runs", "运行"));
    table(
        html,
        &[
            (words.pick("Entry", "条目"), false),
            (words.pick("Report", "报告"), false),
            (words.pick("Bundle", "证据包"), false),
            (words.pick("Head", "记录头哈希"), false),
        ],
    );
    for entry in entries {
        for job in &entry.job_ids {
            let of = site.bundles.iter().find_map(|bundle| {
                let found = bundle.jobs.iter().find(|one| one.job_id == *job)?;
                bundle.is_included.then_some((bundle, found))
            });
            html.raw("<tr><td>");
            name(html, &entry.label);
            html.raw("</td><td class=\"wide\">");
            match site.report_of(job) {
                Some(report) => {
                    html.raw("<a href=\"").text(report).raw("\"><code>").text(job).raw("</code></a>");
                }
                None => {
                    html.raw("<code>").text(job).raw("</code>");
                }
            }
            html.raw("</td><td>");
            if let Some((bundle, of)) = of {
                name(html, &bundle.file);
                html.raw("</td><td class=\"wide\"><code>").text(&of.head).raw("</code>");
            } else {
                html.raw("</td><td>");
            }
            html.raw("</td></tr>\n");
        }
    }
    end_table(html);
    end(html);
}

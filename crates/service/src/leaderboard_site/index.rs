//! The first page: all boards, and all bundles with their hashes.

use super::boards::{file_name, title};
use super::{Site, SiteBundle};
use crate::format::bytes;
use crate::html::Html;
use crate::report::elements::{
    cell, document, end, end_table, name, note, number, paragraph, section, table,
};
use crate::report::words::{NONE, Words, count};
use papertape_protocol::leaderboard::Board;

/// The maximum number of characters of a reason.
const MAX_REASON: usize = 400;

pub(super) fn page(words: Words, site: &Site) -> String {
    let heading = words.pick("Leaderboard · Papertape", "排行榜 · Papertape");
    document(words, heading, |html| {
        html.raw("<header>\n<p class=\"brand\">Papertape · ");
        html.text(words.pick("paper trading of LLM agents", "大模型智能体模拟交易")).raw("</p>\n<h1>");
        html.text(words.pick("Leaderboard", "排行榜")).raw("</h1>\n");
        let all = site.bundles.len();
        let included = site.bundles.iter().filter(|bundle| bundle.is_included).count();
        if included < all {
            html.raw("<p class=\"banner\">");
            html.text(words.pick(
                format!("{} of {all} bundles are not included: see below.", all - included),
                format!("{all} 个证据包中有 {} 个未纳入，原因见下。", all - included),
            ));
            html.raw("</p>\n");
        }
        html.raw("</header>\n");
        boards(html, words, site);
        bundles(html, words, site);
        verify(html, words);
    })
}

fn boards(html: &mut Html, words: Words, site: &Site) {
    section(html, words.pick("Boards", "榜单"));
    paragraph(
        html,
        words.pick(
            "A board has the runs with the same dataset, market, universe, costs, fill, mask and days. Runs that differ in \
             any of these are never ranked together.",
            "同一榜单内的运行，其数据集、市场规则、股票池、交易成本、成交方式、遮蔽方式与交易日完全相同；任何一项不同都不会放在一起排名。",
        ),
    );
    if site.boards.is_empty() {
        note(html, words.pick("There are no runs.", "没有运行。"));
        end(html);
        return;
    }
    table(
        html,
        &[
            (words.pick("Board", "榜单"), false),
            (words.pick("Market", "市场"), false),
            (words.pick("Costs", "交易成本"), false),
            (words.pick("Mask", "遮蔽"), false),
            (words.pick("Configurations", "配置数"), true),
            (words.pick("Runs", "运行次数"), true),
            (words.pick("Leading", "领先者"), false),
        ],
    );
    for board in &site.boards {
        html.raw("<tr><td class=\"wide\"><a href=\"").text(file_name(board)).raw("\">");
        name(html, &title(words, board));
        html.raw("</a></td>");
        cell(html, &board.market);
        let costs = match board.costs.as_str() {
            "frictionless" => words.pick("frictionless", "零成本"),
            _ => words.pick("with costs", "含交易成本"),
        };
        cell(html, costs);
        cell(html, board.mask.as_deref().unwrap_or(NONE));
        number(html, &count(board.configurations));
        number(html, &count(board.runs));
        html.raw("<td>").text(leading(words, board)).raw("</td></tr>\n");
    }
    end_table(html);
    end(html);
}

/// Who can be first.
fn leading(words: Words, board: &Board) -> String {
    let entries = board.entries.as_deref().unwrap_or_default();
    let first: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.rank.is_some_and(|rank| rank.best == 1))
        .map(|entry| entry.label.as_str())
        .collect();
    match first.as_slice() {
        [] => words.pick("not ranked", "未排名").to_owned(),
        [only] => (*only).to_owned(),
        many => words.pick(
            format!("{} entries, not distinguishable", many.len()),
            format!("{} 个条目，无法区分", many.len()),
        ),
    }
}

fn bundles(html: &mut Html, words: Words, site: &Site) {
    section(html, words.pick("Bundles", "证据包"));
    table(
        html,
        &[
            (words.pick("File", "文件"), false),
            (words.pick("Verification", "校验"), false),
            (words.pick("Size", "大小"), true),
            ("SHA-256", false),
            (words.pick("Bundle hash", "证据包哈希"), false),
            (words.pick("Jobs and heads", "任务与记录头"), false),
        ],
    );
    for bundle in &site.bundles {
        row(html, words, bundle);
    }
    end_table(html);
    end(html);
}

fn row(html: &mut Html, words: Words, bundle: &SiteBundle) {
    html.raw("<tr><td>");
    name(html, &bundle.file);
    html.raw("</td><td class=\"wide\">");
    match bundle.is_included {
        true => html.raw("<span class=\"up\">").text(words.pick("intact", "完好")).raw("</span>"),
        false => html.raw("<span class=\"down\">").text(words.pick("not included", "未纳入")).raw("</span>"),
    };
    for reason in &bundle.reasons {
        html.raw("<br><span class=\"note\">");
        html.quote(reason, MAX_REASON, |length| words.cut(length)).raw("</span>");
    }
    html.raw("</td>");
    number(html, &bytes(bundle.bytes));
    html.raw("<td class=\"wide\"><code>").text(&bundle.sha256).raw("</code></td><td class=\"wide\"><code>");
    html.text(bundle.bundle.as_deref().unwrap_or(NONE)).raw("</code></td><td class=\"wide\">");
    for (at, job) in bundle.jobs.iter().enumerate() {
        if at > 0 {
            html.raw("<br>");
        }
        match &job.report {
            Some(report) => {
                html.raw("<a href=\"").text(report).raw("\"><code>").text(&job.job_id).raw("</code></a>")
            }
            None => html.raw("<code>").text(&job.job_id).raw("</code>"),
        };
        html.raw(" <code>").text(&job.head).raw("</code>");
    }
    html.raw("</td></tr>\n");
}

fn verify(html: &mut Html, words: Words) {
    section(html, words.pick("Verify it yourself", "自行校验"));
    paragraph(
        html,
        words.pick(
            "Get a bundle, compare its SHA-256 with the one above, and run the command below. It recomputes the books, the \
             metrics and the comparison, without a database and without a network. Then build this site again from the \
             same files: the same version gives the same pages.",
            "取得证据包后，先核对上表中的 SHA-256，再运行下面的命令。它会在没有数据库和网络的情况下重新计算账本、指标与比较结果。用同样的文件重新生成本站，相同版本会得到相同的页面。",
        ),
    );
    html.raw("<p><code>papertape verify FILE</code></p>\n");
    html.raw("<p><code>papertape leaderboard build DIR --out SITE</code></p>\n");
    note(
        html,
        words.pick(
            "A bundle does not prove that a run took place: anyone can write a consistent one. Compare its heads with heads \
             that were published when the jobs ran.",
            "证据包不能证明运行确实发生过：任何人都可以编造一个自洽的证据包。请与任务运行时公布的记录头核对。",
        ),
    );
    end(html);
}

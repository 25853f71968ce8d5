//! The parts that pages are made of: sections, paragraphs, tables, and the page around them.

use super::words::Words;
use crate::html::Html;

/// What a browser may load and run in a page: its own styles, and nothing else.
pub const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A whole page, with its styles in it.
pub(crate) fn document(words: Words, title: &str, body: impl FnOnce(&mut Html)) -> String {
    let mut html = Html::default();
    html.raw("<!doctype html>\n<html lang=\"").text(words.pick("en", "zh-CN")).raw("\">\n<head>\n");
    html.raw("<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    // `frame-ancestors` is for the header only.
    html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"");
    html.text(REPORT_POLICY.trim_end_matches("; frame-ancestors 'none'")).raw("\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
    html.raw("<meta name=\"generator\" content=\"papertape ")
        .text(env!("CARGO_PKG_VERSION"))
        .raw("\">\n<title>");
    html.text(title).raw("</title>\n<style>\n");
    html.raw(include_str!("report.css")).raw("</style>\n</head>\n<body>\n<main>\n");
    body(&mut html);
    html.raw("</main>\n</body>\n</html>\n");
    html.finish()
}

/// The longest name of an agent or a symbol that is shown.
const MAX_NAME: usize = 80;

/// Opens a section.
pub(crate) fn section(html: &mut Html, heading: &str) {
    html.raw("<section>\n<h2>").text(heading).raw("</h2>\n");
}

pub(crate) fn end(html: &mut Html) {
    html.raw("</section>\n");
}

pub(crate) fn paragraph(html: &mut Html, text: &str) {
    html.raw("<p>").text(text).raw("</p>\n");
}

pub(crate) fn note(html: &mut Html, text: &str) {
    html.raw("<p class=\"note\">").text(text).raw("</p>\n");
}

/// A name from a configuration or a dataset.
pub(crate) fn name(html: &mut Html, text: &str) {
    html.quote(text, MAX_NAME, |_| "…".to_owned());
}

/// Opens a table, in a box that scrolls where the page is narrow.
pub(crate) fn table(html: &mut Html, headings: &[(&str, bool)]) {
    html.raw("<div class=\"scroll\"><table><thead><tr>");
    for (heading, is_number) in headings {
        html.raw(if *is_number { "<th class=\"num\">" } else { "<th>" }).text(heading).raw("</th>");
    }
    html.raw("</tr></thead><tbody>\n");
}

pub(crate) fn end_table(html: &mut Html) {
    html.raw("</tbody></table></div>\n");
}

/// A text. A short one, such as a date, stays on one line.
pub(crate) fn cell(html: &mut Html, text: &str) {
    html.raw(if text.chars().count() <= 24 { "<td class=\"short\">" } else { "<td>" })
        .text(text)
        .raw("</td>");
}

pub(crate) fn number(html: &mut Html, text: &str) {
    html.raw("<td class=\"num\">").text(text).raw("</td>");
}

/// A number whose sign matters.
pub(crate) fn colored(html: &mut Html, value: f64, text: &str) {
    html.raw(match value {
        value if value > 0.0 => "<td class=\"num up\">",
        value if value < 0.0 => "<td class=\"num down\">",
        _ => "<td class=\"num\">",
    });
    html.text(text).raw("</td>");
}

//! The sections of a report, in their order. Nothing here reads the record.

mod costs;
mod curves;
mod decisions;
mod head;
mod limits;
mod metrics;
mod months;
mod quality;
mod trials;
mod verdict;

use super::data::ReportData;
use crate::html::Html;

pub(super) use head::title;

/// Renders all sections.
pub(super) fn render(html: &mut Html, data: &ReportData) {
    head::render(html, data);
    head::overview(html, data);
    verdict::render(html, data);
    curves::render(html, data);
    months::render(html, data);
    metrics::render(html, data);
    trials::render(html, data);
    costs::render(html, data);
    quality::render(html, data);
    decisions::rejected(html, data);
    decisions::render(html, data);
    limits::render(html, data);
}

/// The longest name of an agent or a symbol that is shown.
const MAX_NAME: usize = 80;

/// Opens a section.
fn section(html: &mut Html, heading: &str) {
    html.raw("<section>\n<h2>").text(heading).raw("</h2>\n");
}

fn end(html: &mut Html) {
    html.raw("</section>\n");
}

fn paragraph(html: &mut Html, text: &str) {
    html.raw("<p>").text(text).raw("</p>\n");
}

fn note(html: &mut Html, text: &str) {
    html.raw("<p class=\"note\">").text(text).raw("</p>\n");
}

/// A name from a configuration or a dataset.
fn name(html: &mut Html, text: &str) {
    html.quote(text, MAX_NAME, |_| "…".to_owned());
}

/// Opens a table, in a box that scrolls where the page is narrow.
fn table(html: &mut Html, headings: &[(&str, bool)]) {
    html.raw("<div class=\"scroll\"><table><thead><tr>");
    for (heading, is_number) in headings {
        html.raw(if *is_number { "<th class=\"num\">" } else { "<th>" }).text(heading).raw("</th>");
    }
    html.raw("</tr></thead><tbody>\n");
}

fn end_table(html: &mut Html) {
    html.raw("</tbody></table></div>\n");
}

/// A text. A short one, such as a date, stays on one line.
fn cell(html: &mut Html, text: &str) {
    html.raw(if text.chars().count() <= 24 { "<td class=\"short\">" } else { "<td>" })
        .text(text)
        .raw("</td>");
}

fn number(html: &mut Html, text: &str) {
    html.raw("<td class=\"num\">").text(text).raw("</td>");
}

/// A number whose sign matters.
fn colored(html: &mut Html, value: f64, text: &str) {
    html.raw(match value {
        value if value > 0.0 => "<td class=\"num up\">",
        value if value < 0.0 => "<td class=\"num down\">",
        _ => "<td class=\"num\">",
    });
    html.text(text).raw("</td>");
}

/// The mark of an agent's color, with its name.
fn agent(html: &mut Html, data: &ReportData, agent: &str) {
    let color = data.agents.iter().position(|known| known == agent).unwrap_or_default();
    html.raw("<span class=\"agent\"><i class=\"key s").text(color % 12).raw("\"></i>");
    name(html, agent);
    html.raw("</span>");
}

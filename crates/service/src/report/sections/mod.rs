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
use super::elements::{cell, colored, end, end_table, name, note, number, paragraph, section, table};
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

/// The mark of an agent's color, with its name.
fn agent(html: &mut Html, data: &ReportData, agent: &str) {
    let color = data.agents.iter().position(|known| known == agent).unwrap_or_default();
    html.raw("<span class=\"agent\"><i class=\"key s").text(color % 12).raw("\"></i>");
    name(html, agent);
    html.raw("</span>");
}

//! Draws a trace as a waterfall: a line per node, with a bar from its start to its end.

use papertape_runtime::profile::trace::{NodeTiming, Phase, Status, Trace};
use std::fmt::Write as _;

#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// The width in columns.
    pub(super) width: usize,
    pub(super) color: bool,
}

/// The minimum width of a bar, however narrow the terminal.
const MIN_BAR_WIDTH: usize = 12;
/// Longer names are truncated.
const MAX_NAME_CHARS: usize = 24;

pub(super) fn waterfall(trace: &Trace, style: Style) -> String {
    let mut out = String::new();
    head(&mut out, trace);
    let lines: Vec<Line> = trace.node_timings.iter().map(Line::of).collect();
    if lines.is_empty() {
        out.push_str("no completed nodes\n");
    } else {
        let columns = Columns::of(&lines);
        let bar = style.width.saturating_sub(columns.width()).max(MIN_BAR_WIDTH);
        let end = trace.node_timings.iter().map(|node| node.end_at).fold(0.0, f64::max);
        let _ = writeln!(out, "{}", columns.head(bar));
        for (line, node) in lines.iter().zip(&trace.node_timings) {
            let drawn = paint(&draw(node, end, bar, line.is_degraded), line.phase, style.color);
            let _ = writeln!(out, "{}", columns.line(line, &drawn, style.color).trim_end());
        }
    }
    foot(&mut out, trace, style);
    out.trim_end().to_owned()
}

/// Replaces control characters, since trace files are untrusted.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn head(out: &mut String, trace: &Trace) {
    let status = match trace.status {
        Status::Ok if trace.is_degraded() => "ok, degraded",
        Status::Ok => "ok",
        Status::Error => "error",
    };
    let title = format!("{} on {}: {status}, run {}", trace.ticker, trace.date, trace.run_id);
    let _ = writeln!(out, "{}", clean(&title));
    let mut settings = Vec::new();
    settings.extend(trace.model.clone());
    if !trace.selected_analysts.is_empty() {
        settings.push(format!("analysts {}", trace.selected_analysts.join(", ")));
    }
    settings.extend(trace.analysis_prompt_style.as_ref().map(|style| format!("{style} prompts")));
    if !settings.is_empty() {
        let _ = writeln!(out, "{}", clean(&settings.join("; ")));
    }
    if let Some(error) = &trace.error {
        let kind = trace.exception_type.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
        let _ = writeln!(out, "{}", clean(&format!("failed: {error}{kind}")));
    }
    out.push('\n');
}

fn foot(out: &mut String, trace: &Trace, style: Style) {
    let summary = &trace.summary;
    let own = Phase::ALL.map(Phase::as_str);
    let other = trace.phase_totals_seconds.keys().map(String::as_str).filter(|phase| !own.contains(phase));
    let phases: Vec<String> = own
        .into_iter()
        .chain(other)
        .filter_map(|phase| {
            let seconds = trace.phase_totals_seconds.get(phase)?;
            Some(paint(
                &format!("{} {}", clean(phase), time(seconds * 1000.0)),
                phase.parse().ok(),
                style.color,
            ))
        })
        .collect();
    let _ = write!(out, "\ntotal {}", time(summary.total_elapsed_ms as f64));
    let _ = writeln!(out, "; {}", if phases.is_empty() { "no phases".to_owned() } else { phases.join(", ") });
    let status = summary.final_research_status.as_deref().unwrap_or("unknown");
    let reason = summary.final_degraded_reason.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    let degraded = match summary.degraded_event_count {
        0 => String::new(),
        count => format!("; {count} of {} events degraded (!)", summary.event_count),
    };
    let _ = writeln!(out, "{}", clean(&format!("research {status}{reason}{degraded}")));
    if !trace.open_nodes.is_empty() {
        let open = trace
            .open_nodes
            .iter()
            .map(|open| format!("{} (since {})", open.node, time(open.start_at * 1000.0)));
        let _ =
            writeln!(out, "{}", clean(&format!("open at the end: {}", open.collect::<Vec<_>>().join(", "))));
    }
    if summary.reused_steps > 0 {
        let _ = writeln!(
            out,
            "{} steps were copied from a parent job; their times are those of the copy",
            summary.reused_steps
        );
    }
    if summary.interrupted_attempts > 0 {
        let _ = writeln!(
            out,
            "{} attempts were interrupted; the total includes the time until the run resumed",
            summary.interrupted_attempts
        );
    }
}

/// The cells of a node's line.
struct Line {
    phase: Option<Phase>,
    is_degraded: bool,
    name: String,
    took: String,
    tokens: String,
    tools: String,
    state: String,
}

impl Line {
    fn of(node: &NodeTiming) -> Self {
        let round =
            node.round.filter(|round| *round > 1).map(|round| format!(" #{round}")).unwrap_or_default();
        let name: String = format!("{}{round}", node.nodes.join(", "));
        let count = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
        Self {
            phase: node.phases.first().and_then(|phase| phase.parse().ok()),
            is_degraded: node.is_degraded(),
            name: truncate(&name),
            took: time(node.elapsed_ms as f64),
            tokens: match (node.input_tokens, node.output_tokens) {
                (None, None) => "-".to_owned(),
                (input, output) => format!("{}/{}", count(input), count(output)),
            },
            tools: count(node.tool_calls),
            state: match node.state.as_deref() {
                Some("ok") | None => String::new(),
                Some(state) => clean(state),
            },
        }
    }
}

/// The widths of the columns.
struct Columns {
    name: usize,
    took: usize,
    tokens: usize,
    tools: usize,
    state: usize,
}

impl Columns {
    fn of(lines: &[Line]) -> Self {
        let widest = |heading: &str, cell: &dyn Fn(&Line) -> &str| {
            lines.iter().map(|line| cell(line).chars().count()).chain([heading.len()]).max().unwrap_or(0)
        };
        Self {
            name: widest("node", &|line| &line.name),
            took: widest("time", &|line| &line.took),
            tokens: widest("tokens in/out", &|line| &line.tokens),
            tools: widest("tools", &|line| &line.tools),
            state: widest("", &|line| &line.state),
        }
    }

    /// The width of everything but the bar.
    fn width(&self) -> usize {
        let state = if self.state == 0 { 0 } else { self.state + 2 };
        2 + self.name + 2 + 2 + self.took + 2 + self.tokens + 2 + self.tools + state
    }

    fn head(&self, bar: usize) -> String {
        let Self { name, took, tokens, tools, .. } = *self;
        format!(
            "  {:name$}  {:bar$}  {:>took$}  {:>tokens$}  {:>tools$}",
            "node", "", "time", "tokens in/out", "tools"
        )
    }

    fn line(&self, line: &Line, bar: &str, color: bool) -> String {
        let Self { name, took, tokens, tools, .. } = *self;
        let mark = if line.is_degraded { "!" } else { " " };
        let mark =
            if line.is_degraded && color { format!("\x1b[1;31m{mark}\x1b[0m") } else { mark.to_owned() };
        format!(
            "{mark} {:name$}  {bar}  {:>took$}  {:>tokens$}  {:>tools$}  {}",
            line.name, line.took, line.tokens, line.tools, line.state
        )
    }
}

/// A node's bar. A node that took no time is a dot.
fn draw(node: &NodeTiming, end: f64, width: usize, is_degraded: bool) -> String {
    let at = |seconds: f64| {
        let fraction = if end > 0.0 { (seconds / end).clamp(0.0, 1.0) } else { 0.0 };
        ((fraction * width as f64).round() as usize).min(width)
    };
    let start = at(node.start_at).min(width - 1);
    let stop = at(node.end_at).max(start + 1);
    let fill = match (node.elapsed_ms, is_degraded) {
        (0, _) => "·",
        (_, true) => "░",
        (_, false) => "█",
    };
    format!("{}{}{}", " ".repeat(start), fill.repeat(stop - start), " ".repeat(width - stop))
}

/// Colors a text by its phase.
fn paint(text: &str, phase: Option<Phase>, color: bool) -> String {
    let code = match phase {
        Some(Phase::Analyst) => "36",
        Some(Phase::Research) => "34",
        Some(Phase::Trading) => "32",
        Some(Phase::Risk) => "33",
        Some(Phase::Portfolio) => "35",
        None => "37",
    };
    if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

fn truncate(name: &str) -> String {
    let name = clean(name);
    if name.chars().count() <= MAX_NAME_CHARS {
        return name;
    }
    name.chars().take(MAX_NAME_CHARS - 1).chain(['…']).collect()
}

/// Formats milliseconds.
fn time(ms: f64) -> String {
    if ms < 1000.0 {
        format!("{ms:.0} ms")
    } else if ms < 100_000.0 {
        format!("{:.2} s", ms / 1000.0)
    } else {
        super::super::output::seconds(ms / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(nodes: Vec<NodeTiming>) -> Trace {
        let text = r#"{"status": "ok", "ticker": "AAPL", "date": "2012-10-02"}"#;
        let mut trace = papertape_runtime::profile::read::read(text, "r").expect("reads");
        trace.node_timings = nodes;
        trace
    }

    fn node(name: &str, phase: &str, start_at: f64, end_at: f64) -> NodeTiming {
        let elapsed_ms = ((end_at - start_at) * 1000.0).round() as u64;
        let (nodes, phases) = (vec![name.to_owned()], vec![phase.to_owned()]);
        NodeTiming { nodes, phases, start_at, end_at, elapsed_ms, ..NodeTiming::default() }
    }

    // Goal: lines fit the terminal, unless the minimum bar does not.
    #[test]
    fn lines_fit_the_width() {
        let long = node(&"Very ".repeat(20), "risk", 1.0, 2.0);
        let trace = trace(vec![node("Trader", "trading", 0.0, 1.0), long, node("Late", "risk", 2.0, 2.0)]);
        for width in [10, 60, 80, 200] {
            let drawn = waterfall(&trace, Style { width, color: false });
            let widest = drawn.lines().skip(2).take(4).map(|line| line.chars().count()).max().unwrap_or(0);
            let min_width = 2 + MAX_NAME_CHARS + 2 + MIN_BAR_WIDTH + 2 + 6 + 2 + 13 + 2 + 5;
            assert!(widest <= width.max(min_width), "{width}: {widest}\n{drawn}");
        }
    }

    // Goal: bars are colored by phase, and only if the style has color.
    #[test]
    fn bars_are_colored_by_phase() {
        let mut slow = node("Trader", "trading", 0.0, 1.0);
        slow.state = Some("timeout".to_owned());
        let trace = trace(vec![slow, node("?", "unknown", 1.0, 2.0)]);
        let drawn = waterfall(&trace, Style { width: 80, color: true });
        assert!(drawn.contains("\x1b[32m░") && drawn.contains("\x1b[1;31m!\x1b[0m"), "{drawn:?}");
        assert!(!waterfall(&trace, Style { width: 80, color: false }).contains('\x1b'));
    }

    // Goal: a trace file cannot control the terminal.
    #[test]
    fn control_characters_are_not_sent() {
        let mut trace = trace(vec![node("a\x1b[2J", "risk", 0.0, 1.0)]);
        trace.ticker = "b\x1b[3J".to_owned();
        trace.error = Some("c\x1b[4J".to_owned());
        trace.phase_totals_seconds.insert("d\x1b[5J".to_owned(), 1.0);
        let drawn = waterfall(&trace, Style { width: 80, color: false });
        assert!(drawn.contains("a?[2J") && !drawn.contains('\x1b'), "{drawn:?}");
    }
}

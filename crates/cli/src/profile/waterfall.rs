//! A trace as a waterfall: a line a node, a bar from its start to its end.

use papertape_runtime::profile::trace::{NodeTiming, Phase, Status, Trace};
use std::fmt::Write as _;

/// How it is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Columns.
    pub(super) width: usize,
    /// With colours of a terminal?
    pub(super) colour: bool,
}

/// Bars are no narrower than this, whatever the terminal.
const NARROWEST: usize = 12;
/// Names are cut to so many characters.
const LONGEST_NAME: usize = 24;

/// Draws a trace.
pub(super) fn waterfall(trace: &Trace, look: Look) -> String {
    let mut out = String::new();
    head(&mut out, trace);
    let lines: Vec<Line> = trace.node_timings.iter().map(Line::of).collect();
    if lines.is_empty() {
        out.push_str("no node has ended\n");
    } else {
        let columns = Columns::of(&lines);
        let bar = look.width.saturating_sub(columns.width()).max(NARROWEST);
        let end = trace.node_timings.iter().map(|node| node.end_at).fold(0.0, f64::max);
        let _ = writeln!(out, "{}", columns.head(bar));
        for (line, node) in lines.iter().zip(&trace.node_timings) {
            let drawn = paint(&draw(node, end, bar, line.is_degraded), line.phase, look.colour);
            let _ = writeln!(out, "{}", columns.line(line, &drawn, look.colour).trim_end());
        }
    }
    foot(&mut out, trace, look);
    out.trim_end().to_owned()
}

/// A text of a file from outside: its control characters are shown, not sent to the terminal.
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
    let mut facts = Vec::new();
    facts.extend(trace.model.clone());
    if !trace.selected_analysts.is_empty() {
        facts.push(format!("analysts {}", trace.selected_analysts.join(", ")));
    }
    facts.extend(trace.analysis_prompt_style.as_ref().map(|style| format!("{style} prompts")));
    if !facts.is_empty() {
        let _ = writeln!(out, "{}", clean(&facts.join("; ")));
    }
    if let Some(error) = &trace.error {
        let kind = trace.exception_type.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
        let _ = writeln!(out, "{}", clean(&format!("broke off: {error}{kind}")));
    }
    out.push('\n');
}

fn foot(out: &mut String, trace: &Trace, look: Look) {
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
                look.colour,
            ))
        })
        .collect();
    let _ = write!(out, "\ntotal {}", time(summary.total_elapsed_ms as f64));
    let _ = writeln!(out, "; {}", if phases.is_empty() { "no phases".to_owned() } else { phases.join(", ") });
    let status = summary.final_research_status.as_deref().unwrap_or("not known");
    let reason = summary.final_degraded_reason.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    let degraded = match summary.degraded_event_count {
        0 => String::new(),
        count => format!("; ! marks {count} of {} events as degraded", summary.event_count),
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
            "{} steps were taken over from a parent job: their times are those of copying",
            summary.reused_steps
        );
    }
    if summary.interrupted_attempts > 0 {
        let _ = writeln!(
            out,
            "{} attempts were cut off: the time until the run went on is in the total",
            summary.interrupted_attempts
        );
    }
}

/// The texts of a node's line.
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
            name: cut(&name),
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

/// How wide each column is.
struct Columns {
    name: usize,
    took: usize,
    tokens: usize,
    tools: usize,
    state: usize,
}

impl Columns {
    fn of(lines: &[Line]) -> Self {
        let widest = |least: &str, of: &dyn Fn(&Line) -> &str| {
            lines.iter().map(|line| of(line).chars().count()).chain([least.len()]).max().unwrap_or(0)
        };
        Self {
            name: widest("node", &|line| &line.name),
            took: widest("time", &|line| &line.took),
            tokens: widest("tokens in/out", &|line| &line.tokens),
            tools: widest("tools", &|line| &line.tools),
            state: widest("", &|line| &line.state),
        }
    }

    /// Of everything but the bar.
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

    fn line(&self, line: &Line, bar: &str, colour: bool) -> String {
        let Self { name, took, tokens, tools, .. } = *self;
        let mark = if line.is_degraded { "!" } else { " " };
        let mark =
            if line.is_degraded && colour { format!("\x1b[1;31m{mark}\x1b[0m") } else { mark.to_owned() };
        format!(
            "{mark} {:name$}  {bar}  {:>took$}  {:>tokens$}  {:>tools$}  {}",
            line.name, line.took, line.tokens, line.tools, line.state
        )
    }
}

/// A node's bar within the run's time; a node that took no time is a dot.
fn draw(node: &NodeTiming, end: f64, width: usize, is_degraded: bool) -> String {
    let at = |seconds: f64| {
        let share = if end > 0.0 { (seconds / end).clamp(0.0, 1.0) } else { 0.0 };
        ((share * width as f64).round() as usize).min(width)
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

/// A text in the colour of its phase.
fn paint(text: &str, phase: Option<Phase>, colour: bool) -> String {
    let code = match phase {
        Some(Phase::Analyst) => "36",
        Some(Phase::Research) => "34",
        Some(Phase::Trading) => "32",
        Some(Phase::Risk) => "33",
        Some(Phase::Portfolio) => "35",
        None => "37",
    };
    if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// A name that fits.
fn cut(name: &str) -> String {
    let shown = clean(name);
    if shown.chars().count() <= LONGEST_NAME {
        return shown;
    }
    shown.chars().take(LONGEST_NAME - 1).chain(['…']).collect()
}

/// Milliseconds for people.
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

    // Goal: whatever the terminal's width, lines fit it as long as a bar of some width does.
    #[test]
    fn lines_fit_the_width() {
        let long = node(&"Very ".repeat(20), "risk", 1.0, 2.0);
        let trace = trace(vec![node("Trader", "trading", 0.0, 1.0), long, node("Late", "risk", 2.0, 2.0)]);
        for width in [10, 60, 80, 200] {
            let drawn = waterfall(&trace, Look { width, colour: false });
            let widest = drawn.lines().skip(2).take(4).map(|line| line.chars().count()).max().unwrap_or(0);
            let least = 2 + LONGEST_NAME + 2 + NARROWEST + 2 + 6 + 2 + 13 + 2 + 5;
            assert!(widest <= width.max(least), "{width}: {widest}\n{drawn}");
        }
    }

    // Goal: colours go by phase, and are left out where nobody sees them.
    #[test]
    fn colours_go_by_phase() {
        let mut slow = node("Trader", "trading", 0.0, 1.0);
        slow.state = Some("timeout".to_owned());
        let trace = trace(vec![slow, node("?", "unknown", 1.0, 2.0)]);
        let drawn = waterfall(&trace, Look { width: 80, colour: true });
        assert!(drawn.contains("\x1b[32m░") && drawn.contains("\x1b[1;31m!\x1b[0m"), "{drawn:?}");
        assert!(!waterfall(&trace, Look { width: 80, colour: false }).contains('\x1b'));
    }

    // Goal: a file from outside cannot drive the terminal.
    #[test]
    fn control_characters_are_not_sent() {
        let mut trace = trace(vec![node("a\x1b[2J", "risk", 0.0, 1.0)]);
        trace.ticker = "b\x1b[3J".to_owned();
        trace.error = Some("c\x1b[4J".to_owned());
        trace.phase_totals_seconds.insert("d\x1b[5J".to_owned(), 1.0);
        let drawn = waterfall(&trace, Look { width: 80, colour: false });
        assert!(drawn.contains("a?[2J") && !drawn.contains('\x1b'), "{drawn:?}");
    }
}
